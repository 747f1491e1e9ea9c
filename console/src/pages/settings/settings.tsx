import { Box, Skeleton } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ask } from '../../api.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { Facts } from '../../parts/facts.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Panel } from '../../parts/panel.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { RawView } from '../../parts/raw-view.tsx'
import { spanText } from '../../parts/when.tsx'
import { api } from '../../paths.ts'
import { whyNot } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
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
      <Backups />
    </>
  )
}

/** How backups are made, and an admin's word that they are. */
function Backups() {
  const me = useMe()
  const queries = useQueryClient()
  const [isAsked, setAsked] = useState(false)
  const { backups } = says
  return (
    <Box mt="md">
      <Panel
        title={backups.title}
        tools={
          <ActButton
            size="compact-sm"
            whyNot={whyNot(me, 'manage_policy')}
            onClick={() => setAsked(true)}
          >
            {backups.say}
          </ActButton>
        }
      >
        <p>{backups.how}</p>
        <RawView raw={backupCommands} label={backups.title} />
        <p>{backups.drill}</p>
      </Panel>
      {isAsked && (
        <ActDialog
          draft="backup"
          title={backups.say}
          explain={backups.explain}
          confirm={backups.say}
          needsCode={false}
          close={() => setAsked(false)}
          act={async ({ reason }) => {
            await ask(api.sayBackup, { body: { reason } })
            await queries.invalidateQueries({ queryKey: ['home'] })
            notifications.show({ message: backups.said })
          }}
        />
      )}
    </Box>
  )
}

const backupCommands = `archive_mode = on
archive_command = 'test ! -f /backup/wal/%f && cp %p /backup/wal/%f'
pg_basebackup -D /backup/base/$(date +%F) --checkpoint=fast --wal-method=none`

function shown(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? says.none : value.join(', ')
  if (typeof value === 'boolean') return value ? says.yes : says.no
  return String(value)
}
