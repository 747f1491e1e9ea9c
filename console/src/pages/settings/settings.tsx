import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ask } from '../../api.ts'
import { Facts } from '../../parts/facts.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Panel } from '../../parts/panel.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { spanText } from '../../parts/when.tsx'
import { api } from '../../paths.ts'
import { settingsWords as says } from './settings-words.ts'

/** The settings of the process that answers. They can be changed only in its environment. */
export default function Settings() {
  const found = useQuery({
    queryKey: ['settings'],
    queryFn: ({ signal }) => ask(api.settings, { signal }),
  })
  return (
    <>
      <PageHead title={says.title} says={says.says} />
      {found.isError && <ProblemPanel error={found.error} retry={() => void found.refetch()} />}
      {found.isPending && <Skeleton height={240} />}
      {found.data && (
        <Panel>
          <Facts
            facts={[
              ...Object.entries(found.data.settings).map(
                ([name, value]) => [says.names[name] ?? name, shown(value)] as const,
              ),
              [says.idle, spanText(found.data.session.idle_limit_s)],
              [says.absolute, spanText(found.data.session.absolute_limit_s)],
            ]}
          />
        </Panel>
      )}
    </>
  )
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? says.none : value.join(', ')
  if (typeof value === 'boolean') return value ? says.yes : says.no
  return String(value)
}
