import { Group } from '@mantine/core'
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { ask, type Row } from '../../api.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { CursorPages } from '../../parts/cursor-pages.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import { useDraft } from '../../parts/draft.ts'
import { Empty } from '../../parts/empty.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Money } from '../../parts/money.tsx'
import { PageLink } from '../../parts/page-link.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { Toned } from '../../parts/state-badge.tsx'
import { useFilters } from '../../parts/url-filters.ts'
import { When } from '../../parts/when.tsx'
import { api, pages } from '../../paths.ts'
import { whyNot } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import { bankAccountWords } from './bank-account-words.ts'

type BankFile = Row<typeof api.bankFiles>

const { files: says } = bankAccountWords

/** The files that came for the account, and confirming what another person brought. */
export function AccountFiles({ name, currency }: { name: string; currency: string }) {
  const me = useMe()
  const { filters } = useFilters()
  const [asked, setAsked] = useDraft<string | null>('file', null)
  const query = filters.cursor === undefined ? {} : { cursor: filters.cursor }
  const found = useQuery({
    queryKey: ['bank-files', name, query],
    queryFn: ({ signal }) => ask(api.bankFiles, { params: { name }, query, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: filters.cursor === undefined ? 15_000 : false,
  })
  const file = found.data?.data.find(({ file_id }) => file_id === asked)
  const whyNotConfirm = ({ brought_by }: BankFile) =>
    whyNot(me, 'import_statements') ?? (brought_by === me.user.email ? says.isOwn : undefined)
  return (
    <>
      {found.isError && <ProblemPanel error={found.error} retry={() => void found.refetch()} />}
      {!(found.isError && !found.data) && (
        <DataTable
          label={says.title}
          rows={found.data?.data}
          rowKey={(row) => row.file_id}
          to={(row) => ({
            to: pages.bankAccount(name),
            search: { view: 'movements', file: row.file_id },
          })}
          empty={<Empty title={says.none} teach={says.noneTeach} />}
          columns={[
            {
              key: 'name',
              head: says.columns.name,
              phone: 'wide',
              cell: (row) => (
                <PageLink
                  to={pages.bankAccount(name)}
                  search={{ view: 'movements', file: row.file_id }}
                >
                  {row.name}
                </PageLink>
              ),
            },
            {
              key: 'received',
              head: says.columns.received,
              cell: (row) => <When at={row.received_at} />,
            },
            {
              key: 'by',
              head: says.columns.by,
              cell: (row) =>
                row.via === 'folder' || row.brought_by === says.via[row.via]
                  ? says.via[row.via]
                  : row.brought_by,
            },
            { key: 'days', head: says.columns.days, cell: daysOf },
            {
              key: 'entries',
              head: says.columns.entries,
              right: true,
              cell: (row) => row.entries,
            },
            {
              key: 'state',
              head: says.columns.state,
              phone: 'wide',
              cell: (row) => <FileState file={row} />,
            },
            {
              key: 'act',
              head: says.columns.act,
              cell: (row) =>
                !row.waits ? (
                  '–'
                ) : (
                  <ActButton
                    size="compact-xs"
                    whyNot={whyNotConfirm(row)}
                    onClick={() => setAsked(row.file_id)}
                  >
                    {says.confirm}
                  </ActButton>
                ),
            },
          ]}
        />
      )}
      <CursorPages next={found.data?.next} />
      {file && (
        <ConfirmDialog name={name} currency={currency} file={file} close={() => setAsked(null)} />
      )}
    </>
  )
}

function daysOf({ from_day, to_day }: BankFile): string {
  if (from_day === null) return to_day ?? '–'
  return from_day === to_day || to_day === null ? from_day : `${from_day} – ${to_day}`
}

function FileState({ file }: { file: BankFile }) {
  if (file.refused !== null) {
    return (
      <>
        <Toned tone="bad">{says.refused}</Toned> {file.refused}
      </>
    )
  }
  return (
    <Group gap={6}>
      {file.waits ? (
        <Toned tone="warn">{says.waits(file.unconfirmed)}</Toned>
      ) : (
        <Toned tone="good">{says.taken}</Toned>
      )}
      {file.confirmed_by !== null && <span>{says.confirmedBy(file.confirmed_by)}</span>}
    </Group>
  )
}

function ConfirmDialog(props: {
  name: string
  currency: string
  file: BankFile
  close: () => void
}) {
  const { name, currency, file } = props
  const queries = useQueryClient()
  return (
    <ActDialog
      draft="file"
      title={says.confirmTitle(file.unconfirmed)}
      explain={says.confirmExplain}
      confirm={says.confirm}
      danger
      needsCode
      close={props.close}
      act={async ({ reason, code }) => {
        const params = { name, file_id: file.file_id }
        await ask(api.confirmBankFile, { params, body: { reason, code } })
        await queries.invalidateQueries({ queryKey: ['bank-files', name] })
        void queries.invalidateQueries({ queryKey: ['bank-movements', name] })
        void queries.invalidateQueries({ queryKey: ['bank-account', name] })
        void queries.invalidateQueries({ queryKey: ['bank-days', name] })
      }}
    >
      <Facts
        facts={[
          [says.file, file.name],
          [says.broughtBy, file.brought_by],
          [says.sum, <Money key="s" amount={file.unconfirmed_amount} currency={currency} />],
        ]}
      />
      <PageLink
        to={pages.bankAccount(name)}
        search={{ view: 'movements', file: file.file_id, state: 'unconfirmed' }}
      >
        {says.show}
      </PageLink>
    </ActDialog>
  )
}
