import classes from './parts.module.css'

/** Shown instead of an empty list: says why it is empty and what would appear in it. */
export function Empty(props: {
  title: string
  teach: React.ReactNode
  children?: React.ReactNode
}) {
  return (
    <div className={classes.empty}>
      <svg viewBox="0 0 64 40" width="64" height="40" aria-hidden="true">
        <path d="M8 4v32M56 4v32" className={classes.emptyGate} />
        <path
          d="M8 14c8-6 16-6 24 0s16 6 24 0M8 26c8-6 16-6 24 0s16 6 24 0"
          className={classes.emptyWater}
        />
      </svg>
      <h2>{props.title}</h2>
      <p>{props.teach}</p>
      {props.children}
    </div>
  )
}
