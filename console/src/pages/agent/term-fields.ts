import type { Body } from '../../api.ts'
import type { api } from '../../paths.ts'
import { words } from '../../words.ts'
import type { AgentDetail } from './agent.tsx'

type Change = Body<typeof api.changeAgent>
export type TermName = Exclude<
  keyof Change,
  'updated_at' | 'reason' | 'deposit_callback' | 'withdraw_callback' | 'logo'
>

export interface TermField {
  name: TermName
  kind: 'text' | 'optional' | 'number' | 'choice' | 'lines'
  choices?: string[]
}

/** The terms in the order people look for them; the service checks what is typed. */
export const termFields: TermField[] = [
  { name: 'name', kind: 'text' },
  { name: 'deposit_fee', kind: 'text' },
  { name: 'withdraw_fee', kind: 'text' },
  { name: 'revert_fee', kind: 'choice', choices: ['return', 'keep'] },
  { name: 'late_money', kind: 'choice', choices: ['review', 'credit'] },
  {
    name: 'method',
    kind: 'choice',
    choices: ['link', 'link+qrcode', 'link+transfer', 'link+qrcode+transfer'],
  },
  { name: 'expires_in', kind: 'number' },
  { name: 'min_deposit', kind: 'number' },
  { name: 'max_deposit', kind: 'number' },
  { name: 'min_withdraw', kind: 'number' },
  { name: 'max_withdraw', kind: 'number' },
  { name: 'rate_limit', kind: 'number' },
  { name: 'colour', kind: 'optional' },
  { name: 'support', kind: 'optional' },
  { name: 'allow_ip', kind: 'lines' },
  { name: 'frame_origin', kind: 'lines' },
]

export type Typed = Record<TermName, string>

export function typedFrom(agent: AgentDetail): Typed {
  const text = (value: AgentDetail[TermName]) =>
    Array.isArray(value) ? value.join('\n') : value === null ? '' : String(value)
  return Object.fromEntries(termFields.map(({ name }) => [name, text(agent[name])])) as Typed
}

/** Only what was changed, in the shape the service takes. */
export function changesIn(agent: AgentDetail, typed: Typed): Partial<Change> {
  const before = typedFrom(agent)
  const changed = termFields.filter(({ name }) => typed[name] !== before[name])
  return Object.fromEntries(changed.map((field) => [field.name, parsed(field, typed[field.name])]))
}

function parsed({ kind }: TermField, text: string): string | number | string[] | null {
  switch (kind) {
    case 'number':
      return Number(text)
    case 'lines':
      return text.split(/\s+/).filter((line) => line !== '')
    case 'optional':
      return text.trim() || null
    case 'text':
    case 'choice':
      return text.trim()
  }
}

export const termWords = words.agent.terms
