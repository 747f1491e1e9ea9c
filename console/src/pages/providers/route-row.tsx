import { ActionIcon, MultiSelect, NativeSelect, TagsInput, TextInput } from '@mantine/core'
import { IconArrowDown, IconArrowUp, IconTrash } from '@tabler/icons-react'
import type { Answer } from '../../api.ts'
import { currencyChosen } from '../../parts/currencies.ts'
import type { api } from '../../paths.ts'
import { stateWords, words } from '../../words.ts'
import classes from './providers.module.css'
import { providersWords } from './providers-words.ts'
import type { RouteDraft, RouteErrors } from './route-drafts.ts'

export type Bank = Answer<typeof api.banks>['data'][number]
type Provider = Answer<typeof api.providers>['data'][number]

const { routes: says } = providersWords

const kinds = ['deposit', 'withdraw'] as const

/** The open banks of a currency, for a select. */
export function bankChoices(banks: Bank[], currency: string) {
  return banks
    .filter((bank) => bank.currency === currency && !bank.closed)
    .map(({ code, name }) => ({ value: code, label: `${code} ${name}` }))
}

/** One route; its selects offer only what the provider can do. */
export function RouteRow(props: {
  number: number
  draft: RouteDraft
  errors: RouteErrors
  providers: Provider[]
  banks: Bank[]
  change: (changed: Partial<RouteDraft>) => void
  remove: () => void
  up: (() => void) | undefined
  down: (() => void) | undefined
}) {
  const { draft, errors, providers, change } = props
  const provider = providers.find(({ name }) => name === draft.provider)
  // Keep showing the route's current values, even if they are no longer offered.
  const names = [...new Set([...providers.map(({ name }) => name), draft.provider])]
  const able = kinds.filter((kind) =>
    kind === draft.direction ? true : kind === 'deposit' ? provider?.deposits : provider?.payouts,
  )
  const choices = bankChoices(props.banks, draft.currency)
  const currencies = [...new Set([...(provider?.currencies ?? []), draft.currency])]
  const typed = (name: 'route' | 'min_amount' | 'max_amount' | 'preference' | 'weight') => ({
    label: says[name],
    error: errors[name],
    value: draft[name],
    inputMode: name === 'route' ? ('text' as const) : ('numeric' as const),
    onChange: (event: React.ChangeEvent<HTMLInputElement>) =>
      change({ [name]: event.currentTarget.value }),
  })
  const banks = {
    className: classes.banks,
    label: says.banks,
    error: errors.banks,
    placeholder: draft.banks.length === 0 ? words.all : undefined,
    clearable: true,
    value: draft.banks,
    onChange: (chosen: string[]) => change({ banks: chosen.map((each) => each.toUpperCase()) }),
  }
  return (
    <fieldset className={classes.route} aria-label={says.number(props.number)}>
      <NativeSelect
        label={says.provider}
        error={errors.provider}
        value={draft.provider}
        data={names}
        onChange={(event) => change({ provider: event.currentTarget.value })}
      />
      <TextInput {...typed('route')} />
      <NativeSelect
        label={says.direction}
        error={errors.direction}
        value={draft.direction}
        data={able.map((kind) => ({ value: kind, label: stateWords[kind] ?? kind }))}
        onChange={({ currentTarget: { value } }) =>
          change({ direction: value === 'withdraw' ? 'withdraw' : 'deposit' })
        }
      />
      <NativeSelect
        label={says.currency}
        error={errors.currency}
        value={draft.currency}
        data={currencies}
        onChange={({ currentTarget: { value } }) =>
          // Banks belong to one currency, so clear them.
          change({ currency: currencyChosen(value), banks: [] })
        }
      />
      {choices.length > 0 ? (
        <MultiSelect {...banks} searchable data={choices} />
      ) : (
        // Where the service has no list of banks, their codes are typed.
        <TagsInput {...banks} />
      )}
      <TextInput {...typed('min_amount')} />
      <TextInput {...typed('max_amount')} />
      <TextInput {...typed('preference')} />
      <TextInput {...typed('weight')} />
      <div className={classes.tools}>
        <Tool label={says.up} onClick={props.up}>
          <IconArrowUp size={15} />
        </Tool>
        <Tool label={says.down} onClick={props.down}>
          <IconArrowDown size={15} />
        </Tool>
        <Tool label={says.remove} onClick={props.remove}>
          <IconTrash size={15} />
        </Tool>
      </div>
    </fieldset>
  )
}

function Tool(props: {
  label: string
  onClick: (() => void) | undefined
  children: React.ReactNode
}) {
  return (
    <ActionIcon
      variant="default"
      size="lg"
      aria-label={props.label}
      title={props.label}
      disabled={props.onClick === undefined}
      onClick={props.onClick}
    >
      {props.children}
    </ActionIcon>
  )
}
