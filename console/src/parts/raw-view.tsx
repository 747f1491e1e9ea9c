import { words } from '../words.ts'
import { CopyIcon } from './copy-id.tsx'
import classes from './raw-view.module.css'

/** Recorded content as it is; JSON is indented for reading. */
export function RawView({ raw, label }: { raw: unknown; label?: string }) {
  const text = laidOut(raw)
  return (
    // biome-ignore lint/a11y: no landmark, but what scrolls must have a name and be reachable by keyboard
    <div role="group" className={classes.raw} aria-label={label ?? words.raw} tabIndex={0}>
      <span className={classes.copy}>
        <CopyIcon value={text} what={label ?? words.raw} />
      </span>
      <pre>{text}</pre>
    </div>
  )
}

function laidOut(raw: unknown): string {
  if (typeof raw !== 'string') return JSON.stringify(raw, null, 2) ?? ''
  try {
    return JSON.stringify(JSON.parse(raw), null, 2)
  } catch {
    return raw
  }
}
