import { Button, Group, Popover, Select, Stack, TextInput } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { use, useState } from 'react'
import { addressOf } from '../../api.ts'
import { TimeZone } from '../../parts/when.tsx'
import { fromLocal, toLocal } from '../../parts/zoned-time.ts'
import { api } from '../../paths.ts'
import { walletWords } from './wallet-words.ts'

const { statement: says } = walletWords

/** Downloads a statement for a range of days, as CSV or PDF. */
export function StatementMenu({ appId }: { appId: string }) {
  const zone = use(TimeZone)
  const today = toLocal(new Date().toISOString(), zone).slice(0, 10)
  const [from, setFrom] = useState(`${today.slice(0, 8)}01`)
  const [to, setTo] = useState(today)
  const [content, setContent] = useState('summary')
  const params = { app_id: appId }
  // Up to the end of the last day.
  const end = new Date(Date.parse(`${to}T00:00Z`) + 86_400_000).toISOString().slice(0, 10)
  const query = {
    from: fromLocal(`${from}T00:00`, zone),
    to: fromLocal(`${end}T00:00`, zone),
    content,
  }
  const isWhole = from !== '' && to !== ''
  return (
    <Popover position="bottom-end" width={280} trapFocus>
      <Popover.Target>
        <Button variant="default" size="sm" leftSection={<IconDownload size={15} />}>
          {says.open}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap="xs">
          <TextInput
            label={says.from}
            type="date"
            value={from}
            onChange={(event) => setFrom(event.currentTarget.value)}
          />
          <TextInput
            label={says.to}
            type="date"
            value={to}
            onChange={(event) => setTo(event.currentTarget.value)}
          />
          <Select
            label={says.content}
            data={[
              { value: 'summary', label: says.summary },
              { value: 'rows', label: says.rows },
            ]}
            value={content}
            onChange={(chosen) => setContent(chosen ?? 'summary')}
            allowDeselect={false}
            comboboxProps={{ withinPortal: false }}
          />
          {isWhole && (
            <Group grow>
              <Button component="a" download href={addressOf(api.statementCsv, { params, query })}>
                CSV
              </Button>
              <Button component="a" download href={addressOf(api.statementPdf, { params, query })}>
                PDF
              </Button>
            </Group>
          )}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  )
}
