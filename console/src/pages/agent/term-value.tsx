import classes from './agent.module.css'
import { agentWords } from './agent-words.ts'
import { type TermField, termText } from './term-fields.ts'

/** Displays a term: as text, or as the logo itself. */
export function TermValue({ field, value }: { field: TermField; value: string }) {
  if (field.kind === 'picture' && value !== '') {
    return <img className={classes.logo} src={value} alt={agentWords.logo.alt} />
  }
  return <span>{termText(field, value)}</span>
}
