import { Textarea } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { ask, type Row } from '../../api.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { CopyId } from '../../parts/copy-id.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { useDraft } from '../../parts/draft.ts'
import { Panel } from '../../parts/panel.tsx'
import { When } from '../../parts/when.tsx'
import { api, pages } from '../../paths.ts'
import { whyNot } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import { orderWords } from '../order/order-words.ts'
import { openItemsWords } from './open-items-words.ts'

const says = openItemsWords.reports
type Report = Row<typeof api.noticeEvents>

/** What providers reported and the service could not act on; nothing if there is none. */
export function UnprocessedReports() {
  const me = useMe()
  const [closing, setClosing] = useDraft<Closing | null>('closing', null)
  const found = useQuery({
    queryKey: ['notice-events'],
    queryFn: ({ signal }) => ask(api.noticeEvents, { signal }),
    refetchInterval: 8000,
  })
  if (!found.data || found.data.data.length === 0) return null
  const whyDisabled = whyNot(me, 'act_on_orders')
  const columns: Column<Report>[] = [
    {
      key: 'words',
      head: says.columns.words,
      phone: 'wide',
      cell: (row) => (row.alike > 1 ? says.times(row.words, row.alike) : row.words),
    },
    { key: 'detail', head: says.columns.detail, phone: 'wide', cell: (row) => row.detail ?? '–' },
    { key: 'provider', head: says.columns.provider, cell: (row) => row.provider },
    { key: 'age', head: says.columns.age, cell: (row) => <When at={row.received_at} ago /> },
    {
      key: 'order',
      head: says.columns.order,
      cell: (row) =>
        row.txn_id === null ? '–' : <CopyId id={row.txn_id} to={pages.order(row.txn_id)} short />,
    },
    {
      key: 'close',
      head: says.columns.close,
      cell: (row) => (
        <ActButton
          size="xs"
          whyNot={whyDisabled ?? (row.can_close ? undefined : says.isMoney)}
          onClick={() => {
            const { provider, event_id, alike } = row
            setClosing({ provider, event_id, ...(alike > 1 && { alike }) })
          }}
        >
          {row.alike > 1 ? says.closeAll(row.alike) : says.close}
        </ActButton>
      ),
    },
  ]
  return (
    <Panel title={says.title}>
      {says.says}
      <DataTable
        label={says.title}
        columns={columns}
        rows={found.data.data}
        rowKey={(row) => `${row.provider}:${row.event_id}`}
        to={(row) => row.txn_id && pages.order(row.txn_id)}
        empty={null}
      />
      {closing && <CloseReport report={closing} close={() => setClosing(null)} />}
    </Panel>
  )
}

/** Of several of one unknown kind, all that were shown are closed. */
type Closing = Pick<Report, 'provider' | 'event_id'> & { alike?: number }

function CloseReport(props: { report: Closing; close: () => void }) {
  const [evidence, setEvidence] = useDraft('closing/evidence', '')
  const queries = useQueryClient()
  return (
    <ActDialog
      draft="closing"
      title={says.closeTitle}
      explain={says.closeExplain}
      confirm={says.close}
      danger
      close={props.close}
      act={async ({ reason, code }) => {
        await ask(api.closeNoticeEvent, { body: { ...props.report, evidence, reason, code } })
        await queries.invalidateQueries({ queryKey: ['notice-events'] })
        notifications.show({ message: says.closedNow })
      }}
    >
      <Textarea
        label={orderWords.evidence}
        description={says.evidenceHint}
        required
        data-autofocus
        value={evidence}
        onChange={(event) => setEvidence(event.currentTarget.value)}
      />
    </ActDialog>
  )
}
