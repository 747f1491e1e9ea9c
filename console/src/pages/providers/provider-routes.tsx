import { Textarea, Title } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type Answer, ask } from '../../api.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { moneyText } from '../../parts/money.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { api } from '../../paths.ts'
import { stateWords, words } from '../../words.ts'
import classes from './providers.module.css'

type Routes = Answer<typeof api.providerRoutes>

const { routes: says } = words.providers

/** Who gets which orders. The lowest preference first; among equals by weight. */
export function ProviderRoutes({ shut }: { shut: string | undefined }) {
  const [isEditing, setEditing] = useState(false)
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
        <ActButton whyNot={shut} onClick={() => setEditing(true)}>
          {says.change}
        </ActButton>
      </div>
      {found.isError && <ProblemPanel error={found.error} />}
      <DataTable
        label={says.title}
        rows={found.data?.routes}
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
            head: says.min,
            right: true,
            cell: (row) => moneyText(row.min_amount, 'VND'),
          },
          {
            key: 'max',
            head: says.max,
            right: true,
            cell: (row) => moneyText(row.max_amount, 'VND'),
          },
          { key: 'preference', head: says.preference, right: true, cell: (row) => row.preference },
          { key: 'weight', head: says.weight, right: true, cell: (row) => row.weight },
        ]}
      />
      {isEditing && found.data && (
        <EditRoutes routes={found.data} close={() => setEditing(false)} />
      )}
    </section>
  )
}

/** The whole table as JSON: few lines, seldom changed, replaced at once or not at all. */
function EditRoutes({ routes, close }: { routes: Routes; close: () => void }) {
  const queries = useQueryClient()
  const [text, setText] = useState(() => JSON.stringify(routes.routes, null, 2))
  const [fault, setFault] = useState<string>()
  return (
    <ActDialog
      title={says.change}
      explain={says.explain}
      confirm={words.save}
      close={close}
      act={async ({ reason }) => {
        const parsed = parse(text)
        setFault(parsed === undefined ? says.notJson : undefined)
        if (!parsed) throw new Error(says.notJson)
        await ask(api.setProviderRoutes, {
          body: { version: routes.version, routes: parsed, reason },
        })
        await queries.invalidateQueries({ queryKey: ['provider-routes'] })
      }}
    >
      <Textarea
        label={says.title}
        maxRows={16}
        value={text}
        error={fault}
        onChange={(event) => setText(event.currentTarget.value)}
        classNames={{ input: classes.json }}
      />
    </ActDialog>
  )
}

function parse(text: string): Routes['routes'] | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
