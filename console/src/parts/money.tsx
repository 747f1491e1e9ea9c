import { locale } from '../languages/language.ts'
import { currencyChosen } from './currencies.ts'
import { currencyRows } from './currency-rows.ts'
import classes from './parts.module.css'

const formats = new Map<string, Intl.NumberFormat>()

function formatOf(currency: string): Intl.NumberFormat {
  const known = formats.get(currency)
  if (known) return known
  // Not those of Intl, which leaves out the decimals of some currencies.
  const { decimals } = currencyRows[currencyChosen(currency)]
  const format = new Intl.NumberFormat(locale, {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  })
  formats.set(currency, format)
  return format
}

export function moneyText(amount: number, currency: string): string {
  return formatOf(currency).format(amount)
}

const whole = new Intl.NumberFormat(locale)

/** A limit in whole units of any currency. */
export function unitsText(units: number): string {
  return whole.format(units)
}

/** An amount as the service sent it, with its currency in a muted colour. */
export function Money(props: {
  amount: number | null | undefined
  currency: string
  signed?: boolean
  bare?: boolean
}) {
  const { amount, currency, signed, bare } = props
  if (amount === null || amount === undefined) return <span className={classes.none}>–</span>
  const tone = toneOf(amount, signed, bare)
  const text = moneyText(Math.abs(amount), currency)
  return (
    <span className={`${classes.money} ${tone}`}>
      {amount < 0 ? '−' : signed && amount > 0 ? '+' : ''}
      {text}
      {!bare && (
        <span className={classes.currency}>
          {' '}
          <span>{currency}</span>
        </span>
      )}
    </span>
  )
}

/** Zero amounts are muted in a column of amounts. */
function toneOf(amount: number, signed = false, bare = false): string | undefined {
  if (amount === 0) return signed || bare ? classes.none : ''
  if (!signed) return ''
  return amount < 0 ? classes.minus : classes.plus
}
