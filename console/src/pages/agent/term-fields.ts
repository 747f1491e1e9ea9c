import type { Body } from '../../api.ts'
import type { api } from '../../paths.ts'
import { words } from '../../words.ts'
import type { AgentDetail } from './agent.tsx'

type Change = Body<typeof api.changeAgent>
export type TermName = Exclude<
  keyof Change,
  'updated_at' | 'reason' | 'deposit_callback' | 'withdraw_callback'
>

export interface TermField {
  name: TermName
  kind: 'text' | 'optional' | 'number' | 'choice' | 'lines' | 'picture'
  choices?: string[]
}

/** The terms by what they are about; the service checks what is typed. */
export const termGroups: [title: string, fields: TermField[]][] = [
  [
    words.agent.groups.fees,
    [
      { name: 'deposit_fee', kind: 'text' },
      { name: 'withdraw_fee', kind: 'text' },
      { name: 'revert_fee', kind: 'choice', choices: ['return', 'keep'] },
      { name: 'late_money', kind: 'choice', choices: ['review', 'credit'] },
    ],
  ],
  [
    words.agent.groups.limits,
    [
      { name: 'min_deposit', kind: 'number' },
      { name: 'max_deposit', kind: 'number' },
      { name: 'min_withdraw', kind: 'number' },
      { name: 'max_withdraw', kind: 'number' },
    ],
  ],
  [
    words.agent.groups.page,
    [
      { name: 'name', kind: 'text' },
      {
        name: 'method',
        kind: 'choice',
        choices: ['link', 'link+qrcode', 'link+transfer', 'link+qrcode+transfer'],
      },
      { name: 'expires_in', kind: 'number' },
      { name: 'colour', kind: 'optional' },
      { name: 'logo', kind: 'picture' },
      { name: 'support', kind: 'optional' },
      { name: 'frame_origin', kind: 'lines' },
    ],
  ],
  [
    words.agent.groups.access,
    [
      { name: 'rate_limit', kind: 'number' },
      { name: 'allow_ip', kind: 'lines' },
    ],
  ],
]

const termFields = termGroups.flatMap(([, fields]) => fields)

export type Typed = Record<TermName, string>

export function typedFrom(agent: AgentDetail): Typed {
  const text = (value: AgentDetail[TermName]) =>
    Array.isArray(value)
      ? value.join('\n')
      : typeof value === 'number'
        ? value.toLocaleString('en')
        : (value ?? '')
  return Object.fromEntries(termFields.map(({ name }) => [name, text(agent[name])])) as Typed
}

export function changedFields(agent: AgentDetail, typed: Typed): TermField[] {
  const before = typedFrom(agent)
  return termFields.filter(({ name }) => typed[name] !== before[name])
}

/** Only what was changed, in the shape the service takes. */
export function changesIn(agent: AgentDetail, typed: Typed): Partial<Change> {
  const changed = changedFields(agent, typed)
  return Object.fromEntries(changed.map((field) => [field.name, parsed(field, typed[field.name])]))
}

/** A term as a person reads it; a picture is looked at. */
export function termText({ kind }: TermField, text: string): string {
  if (text === '') return '–'
  return kind === 'choice' ? (words.agent.choices[text] ?? text) : text
}

function parsed({ kind }: TermField, text: string): string | number | string[] | null {
  switch (kind) {
    case 'number':
      return Number(text.replace(/[\s,]/g, ''))
    case 'lines':
      return text.split(/\s+/).filter((line) => line !== '')
    case 'optional':
    case 'picture':
      return text.trim() || null
    case 'text':
    case 'choice':
      return text.trim()
  }
}

export const termWords = words.agent.terms
