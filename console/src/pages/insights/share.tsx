import classes from './insights.module.css'
import { rateText } from './insights-view.ts'

/** A share as a number, with a bar of that length. */
export function Share({ rate }: { rate: number | null }) {
  return (
    <span className={classes.share}>
      <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
        <rect width={100 * (rate ?? 0)} height={8} />
      </svg>
      <span>{rateText(rate)}</span>
    </span>
  )
}
