import { Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type Answer, ask } from '../../api.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import { useDraft } from '../../parts/draft.ts'
import { Empty } from '../../parts/empty.tsx'
import { unitsText } from '../../parts/money.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { api } from '../../paths.ts'
import { stateWords, words } from '../../words.ts'
import { EditRoutes } from './edit-routes.tsx'
import classes from './providers.module.css'
import { providersWords } from './providers-words.ts'
import { inTurn } from './route-drafts.ts'

const { routes: says } = providersWords

/** Which provider gets which orders: the lowest preference first; among equals by weight. */
export function ProviderRoutes(props: {
  providers: Answer<typeof api.providers>['data']
  whyDisabled: string | undefined
}) {
  const [isEditing, setEditing] = useDraft('routes', false)
  const found = useQuery({
    queryKey: ['provider-routes'],
    queryFn: ({ signal }) => ask(api.providerRoutes, { signal }),
  })
  return (
    <section className={classes.routes}>
      <div className={classes.head}>
        <div>
          <Title order={2}>{says.title}</Title>
          <p>{says.says}</p>
        </div>
        <ActButton whyNot={props.whyDisabled} onClick={() => setEditing(true)}>
          {says.change}
        </ActButton>
      </div>
      {found.isError && <ProblemPanel error={found.error} />}
      <DataTable
        label={says.title}
        rows={found.data && inTurn(found.data.routes)}
        rowKey={(row) => `${row.provider} ${row.route}`}
        empty={<Empty title={says.none} teach={says.noneTeach} />}
        columns={[
          { key: 'provider', head: says.provider, cell: (row) => row.provider },
          { key: 'route', head: says.route, cell: (row) => row.route },
          { key: 'direction', head: says.direction, cell: (row) => stateWords[row.direction] },
          { key: 'currency', head: says.currency, cell: (row) => row.currency },
          { key: 'banks', head: says.banks, cell: (row) => row.banks?.join(', ') ?? words.all },
          {
            key: 'min',
            head: says.min_amount,
            right: true,
            cell: (row) => unitsText(row.min_amount),
          },
          {
            key: 'max',
            head: says.max_amount,
            right: true,
            cell: (row) => unitsText(row.max_amount),
          },
          { key: 'preference', head: says.preference, right: true, cell: (row) => row.preference },
          { key: 'weight', head: says.weight, right: true, cell: (row) => row.weight },
        ]}
      />
      {isEditing && found.data && (
        <EditRoutes read={found.data} providers={props.providers} close={() => setEditing(false)} />
      )}
    </section>
  )
}
