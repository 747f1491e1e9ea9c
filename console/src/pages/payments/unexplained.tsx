import { Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ask } from '../../api.ts'
import { PageLink } from '../../parts/page-link.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { api, pages } from '../../paths.ts'
import { MovementTable } from '../bank-account/movement-table.tsx'
import classes from './payments.module.css'
import { paymentsWords } from './payments-words.ts'

const { unexplained: says } = paymentsWords

/** Money that left a bank account, or came in one sum, and that nobody can explain. */
export function Unexplained() {
  const found = useQuery({
    queryKey: ['unexplained-movements'],
    queryFn: ({ signal }) => ask(api.unexplainedMovements, { signal }),
    refetchInterval: 15_000,
  })
  if (found.isError) return <ProblemPanel error={found.error} />
  if (!found.data || found.data.data.length === 0) return null
  return (
    <section className={classes.unexplained}>
      <Title order={2}>{says.title}</Title>
      <p>{says.says}</p>
      <MovementTable
        label={says.title}
        rows={found.data.data}
        empty={null}
        first={[
          {
            key: 'account',
            head: says.account,
            cell: (row) => (
              <PageLink to={pages.bankAccount(row.account)} search={{ view: 'movements' }}>
                {row.account}
              </PageLink>
            ),
          },
        ]}
      />
    </section>
  )
}
