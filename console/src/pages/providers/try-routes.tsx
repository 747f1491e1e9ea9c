import { Button, NativeSelect, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type Answer, ask } from '../../api.ts'
import { plainNumber } from '../../languages/language.ts'
import { currencies, currencyChosen, defaultCurrency } from '../../parts/currencies.ts'
import { useDraft } from '../../parts/draft.ts'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { api } from '../../paths.ts'
import { stateWords } from '../../words.ts'
import classes from './providers.module.css'
import { providersWords } from './providers-words.ts'
import type { Route } from './route-drafts.ts'
import { type Bank, bankChoices } from './route-row.tsx'

const { routes: says } = providersWords

/** Shows which provider would get an order under the routes in the form. */
export function TryRoutes({ routes, banks }: { routes: () => Route[]; banks: Bank[] }) {
  const [direction, setDirection] = useDraft<Route['direction']>('routes/try/direction', 'deposit')
  const [currency, setCurrency] = useDraft<Route['currency']>(
    'routes/try/currency',
    defaultCurrency,
  )
  const [chosen, setBank] = useDraft('routes/try/bank', '')
  const [amount, setAmount] = useDraft('routes/try/amount', '100')
  const choices = bankChoices(banks, currency)
  const isListed = choices.length === 0 || choices.some(({ value }) => value === chosen)
  const bank = isListed ? chosen : (choices[0]?.value ?? '')
  const trying = useMutation({
    mutationFn: () =>
      ask(api.tryRoutes, {
        body: {
          routes: routes(),
          direction,
          currency,
          bank_code: bank,
          amount: Number(plainNumber(amount)),
        },
      }),
  })
  return (
    <fieldset className={classes.route}>
      <legend>{says.tryTitle}</legend>
      <NativeSelect
        label={says.direction}
        value={direction}
        data={(['deposit', 'withdraw'] as const).map((kind) => ({
          value: kind,
          label: stateWords[kind] ?? kind,
        }))}
        onChange={({ currentTarget: { value } }) =>
          setDirection(value === 'withdraw' ? 'withdraw' : 'deposit')
        }
      />
      <NativeSelect
        label={says.currency}
        value={currency}
        data={currencies}
        onChange={({ currentTarget: { value } }) => setCurrency(currencyChosen(value))}
      />
      {choices.length > 0 ? (
        <NativeSelect
          label={says.bank}
          value={bank}
          data={choices}
          onChange={(event) => setBank(event.currentTarget.value)}
        />
      ) : (
        <TextInput
          label={says.bank}
          value={bank}
          onChange={(event) => setBank(event.currentTarget.value.toUpperCase())}
        />
      )}
      <TextInput
        label={says.amount}
        inputMode="numeric"
        value={amount}
        onChange={(event) => setAmount(event.currentTarget.value)}
      />
      <Button
        className={classes.try}
        variant="default"
        size="sm"
        loading={trying.isPending}
        onClick={() => trying.mutate()}
      >
        {says.try}
      </Button>
      <div className={classes.tried} aria-live="polite">
        {trying.isError && <ProblemPanel error={trying.error} />}
        {trying.data && <Tried found={trying.data.data} />}
      </div>
    </fieldset>
  )
}

function Tried({ found }: { found: Answer<typeof api.tryRoutes>['data'] }) {
  if (found.length === 0) return <p>{says.nobody}</p>
  return (
    <ol>
      {found.map(({ provider, route, preference, share }) => (
        <li key={provider}>
          <strong>{provider}</strong> {says.tried(route, preference, Math.round(share * 100))}
        </li>
      ))}
    </ol>
  )
}
