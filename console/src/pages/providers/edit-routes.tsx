import { Button, Stack } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type Answer, ask, problemOf } from '../../api.ts'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { defaultCurrency } from '../../parts/currencies.ts'
import { useDraft } from '../../parts/draft.ts'
import { api } from '../../paths.ts'
import { words } from '../../words.ts'
import { providersWords } from './providers-words.ts'
import {
  canMoveUp,
  draftsOf,
  movedUp,
  type RouteDraft,
  type RouteErrors,
  routesOf,
  withNew,
} from './route-drafts.ts'
import { RouteRow } from './route-row.tsx'
import { TryRoutes } from './try-routes.tsx'

const { routes: says } = providersWords

/** Edits all routes at once: the table is replaced as a whole or not at all. */
export function EditRoutes(props: {
  read: Answer<typeof api.providerRoutes>
  providers: Answer<typeof api.providers>['data']
  close: () => void
}) {
  const { providers } = props
  const queries = useQueryClient()
  // Keeps the version from when the form was opened, so that saving reports another user's change.
  const [{ version, drafts }, setForm] = useDraft('routes/form', () => ({
    version: props.read.version,
    drafts: draftsOf(props.read.routes),
  }))
  const setDrafts = (next: (now: RouteDraft[]) => RouteDraft[]) =>
    setForm((now) => ({ ...now, drafts: next(now.drafts) }))
  const [errors, setErrors] = useState(new Map<number, RouteErrors>())
  const banks = useQuery({
    queryKey: ['banks'],
    queryFn: ({ signal }) => ask(api.banks, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const change = (id: number, changed: Partial<RouteDraft>) => {
    setDrafts((now) => now.map((draft) => (draft.id === id ? { ...draft, ...changed } : draft)))
    setErrors((now) => new Map([...now].filter(([draftId]) => draftId !== id)))
  }
  const add = () => {
    const [first] = providers
    if (first) setDrafts((now) => withNew(now, first.name, first.currencies[0] ?? defaultCurrency))
  }
  return (
    <ActDialog
      draft="routes"
      title={says.change}
      explain={says.explain}
      confirm={words.save}
      wide
      close={props.close}
      act={async ({ reason, code }) => {
        try {
          await ask(api.setProviderRoutes, {
            body: { version, routes: routesOf(drafts), reason, code },
          })
        } catch (error) {
          setErrors(errorsIn(error, drafts))
          throw error
        }
        await queries.invalidateQueries({ queryKey: ['provider-routes'] })
      }}
    >
      <Stack gap="xs">
        {drafts.map((draft, at) => (
          <RouteRow
            key={draft.id}
            number={at + 1}
            draft={draft}
            errors={errors.get(draft.id) ?? {}}
            providers={providers}
            banks={banks.data?.data ?? []}
            change={(changed) => change(draft.id, changed)}
            remove={() => setDrafts((now) => now.filter(({ id }) => id !== draft.id))}
            up={canMoveUp(drafts, at) ? () => setDrafts((now) => movedUp(now, at)) : undefined}
            down={
              canMoveUp(drafts, at + 1) ? () => setDrafts((now) => movedUp(now, at + 1)) : undefined
            }
          />
        ))}
        {drafts.length === 0 && <p>{says.none}</p>}
        <div>
          <Button
            variant="default"
            leftSection={<IconPlus size={14} />}
            disabled={providers.length === 0}
            onClick={add}
          >
            {says.add}
          </Button>
        </div>
      </Stack>
      <TryRoutes routes={() => routesOf(drafts)} banks={banks.data?.data ?? []} />
    </ActDialog>
  )
}

/** The service's errors by route; the service identifies routes by their index in the request. */
function errorsIn(error: unknown, drafts: RouteDraft[]): Map<number, RouteErrors> {
  const found = new Map<number, RouteErrors>()
  for (const { field, message } of problemOf(error).errors ?? []) {
    const [, at, name] = /^routes\[(\d+)\]\.(\w+)$/.exec(field) ?? []
    const draft = drafts[Number(at)]
    if (draft && name) found.set(draft.id, { ...found.get(draft.id), [name]: message })
  }
  return found
}
