import { useQuery } from '@tanstack/react-query'
import { ask, type Row } from '../api.ts'
import { api } from '../paths.ts'
import type { Column } from './data-table.tsx'
import { moneyText, unitsText } from './money.tsx'
import classes from './parts.module.css'
import { trendWords as says } from './trend-words.ts'

type Of = keyof typeof says.of
export type Trend = Row<typeof api.trends>

/** The last days of each row of a list, by its name. */
export function useTrends(of: Of): (name: string) => Trend | undefined {
  const { data } = useQuery({
    queryKey: ['trends', of],
    queryFn: ({ signal }) => ask(api.trends, { query: { of }, signal }),
    refetchInterval: 60_000,
  })
  return (name) => data?.data.find((each) => each.name === name)
}

/** The column of a list that has them. */
export function trendColumn<T>(of: Of, trendOf: (row: T) => Trend | undefined): Column<T> {
  return {
    key: 'trend',
    head: says.head,
    cell: (row) => <Sparkline of={of} trend={trendOf(row)} />,
  }
}

const height = 22
const slot = 3

/** A bar for each day, from the zero line up or down; a day on which nothing happened has none. */
export function Sparkline({ of, trend }: { of: Of; trend: Trend | undefined }) {
  if (!trend) return <span className={classes.none}>–</span>
  const { values, currency } = trend
  const high = Math.max(0, ...values)
  const low = Math.min(0, ...values)
  const scale = (height - 2) / (high - low || 1)
  const zero = 1 + high * scale
  const text = (value: number) => (currency ? moneyText(value, currency) : unitsText(value))
  const label = says.says(
    says.of[of],
    text(Math.min(...values)),
    text(Math.max(...values)),
    `${text(values.at(-1) ?? 0)}${currency ? ` ${currency}` : ''}`,
  )
  return (
    <svg
      className={classes.sparkline}
      viewBox={`0 0 ${values.length * slot} ${height}`}
      width={values.length * slot}
      height={height}
      role="img"
      aria-label={label}
    >
      <title>{label}</title>
      <line className={classes.sparkZero} x1={0} x2={values.length * slot} y1={zero} y2={zero} />
      {values.map((value, day) =>
        value === 0 ? null : (
          <rect
            // biome-ignore lint/suspicious/noArrayIndexKey: a day is its place
            key={day}
            data-below={value < 0 || undefined}
            x={day * slot}
            y={value > 0 ? zero - value * scale : zero}
            width={slot - 1}
            height={Math.max(1, Math.abs(value) * scale)}
          />
        ),
      )}
    </svg>
  )
}
