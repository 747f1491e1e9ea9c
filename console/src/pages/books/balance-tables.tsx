import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Money } from '../../parts/money.tsx'
import { PageLink } from '../../parts/page-link.tsx'
import { Panel } from '../../parts/panel.tsx'
import { pages } from '../../paths.ts'
import classes from './books.module.css'
import { booksWords as says } from './books-words.ts'
import type { Book, TrialBalance } from './trial-balance.ts'

interface Line {
  key: string
  name: string
  meaning: string
  amount: number
}

type LineName = keyof typeof says.lines
type AccountName = keyof typeof says.accounts

const lineNames = Object.keys(says.lines) as LineName[]
const accountNames = Object.keys(says.accounts) as AccountName[]
const nothing = <Empty title={says.none} teach={says.noneTeach} />

/** The lines of one currency and, folded, what they are made of. */
export function BalanceTables(props: { balance: TrialBalance; asOf: string | undefined }) {
  const { balance, asOf } = props
  const { currency, providers, books } = balance
  const lines: Line[] = lineNames.map((key) => {
    const [name = key, meaning = ''] = says.lines[key]
    return { key, name, meaning, amount: balance[key] }
  })
  const total = { name: says.total, meaning: says.totalMeaning, amount: balance.total }
  return (
    <Panel title={says.currency(currency)}>
      <DataTable
        label={says.currency(currency)}
        columns={lineColumns(currency)}
        rows={[...lines, { key: 'total', ...total }]}
        rowKey={({ key }) => key}
        empty={nothing}
      />
      <details className={classes.fold}>
        <summary>{says.providers(providers.length, currency)}</summary>
        <DataTable
          label={says.providers(providers.length, currency)}
          columns={providerColumns(currency)}
          rows={providers}
          rowKey={({ provider }) => provider}
          empty={nothing}
        />
      </details>
      <details className={classes.fold}>
        <summary>{says.books(books.length, currency)}</summary>
        <DataTable
          label={says.books(books.length, currency)}
          columns={bookColumns(currency, asOf)}
          rows={books}
          rowKey={({ app_id, name }) => app_id ?? name}
          empty={nothing}
        />
      </details>
    </Panel>
  )
}

function lineColumns(currency: string): Column<Line>[] {
  const strong = ({ key }: Line) => (key === 'total' ? classes.total : undefined)
  return [
    {
      key: 'line',
      head: says.line,
      phone: 'plain',
      cell: (line) => <span className={strong(line)}>{line.name}</span>,
    },
    {
      key: 'amount',
      head: says.amount,
      phone: 'plain',
      right: true,
      cell: (line) => (
        <span className={strong(line)}>
          <Money amount={line.amount} currency={currency} />
        </span>
      ),
    },
    { key: 'meaning', head: says.meaning, phone: 'wide', cell: ({ meaning }) => meaning },
  ]
}

function providerColumns(currency: string): Column<TrialBalance['providers'][number]>[] {
  return [
    { key: 'provider', head: says.provider, phone: 'plain', cell: ({ provider }) => provider },
    {
      key: 'clearing',
      head: says.lines.clearing[0] ?? '',
      phone: 'plain',
      right: true,
      cell: ({ clearing }) => <Money amount={clearing} currency={currency} />,
    },
  ]
}

function bookColumns(currency: string, asOf: string | undefined): Column<Book>[] {
  return [
    {
      key: 'book',
      head: says.book,
      phone: 'wide',
      cell: ({ app_id, name }) =>
        app_id === null ? (
          name
        ) : (
          <PageLink to={pages.wallet(app_id)} {...(asOf && { search: { as_of: asOf } })}>
            {name}
          </PageLink>
        ),
    },
    ...accountNames.map((account) => ({
      key: account,
      head: says.accounts[account],
      right: true,
      cell: (book: Book) => <Money amount={book[account]} currency={currency} bare />,
    })),
  ]
}
