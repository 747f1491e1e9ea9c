import { Skeleton, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { ask } from '../../api.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { CopyId } from '../../parts/copy-id.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Money } from '../../parts/money.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { PageLink } from '../../parts/page-link.tsx'
import { Panel } from '../../parts/panel.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { api, pages } from '../../paths.ts'
import { whyNot } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import { BankAnswers, type Taken } from './bank-answers.tsx'
import { type Asked, FileDialog } from './file-dialog.tsx'
import { FileItems } from './file-items.tsx'
import { FileSteps } from './file-steps.tsx'
import classes from './payout-file.module.css'
import { openItems, type PayoutFileDetail } from './payout-file-detail.ts'
import { payoutFileWords as says } from './payout-file-words.ts'

/** The words by which the service says that no person made a file. */
const nobodys = ['command line', 'schedule']

/** One payout file: where it is, what it pays, and what can be done with it. */
export default function PayoutFile() {
  const { id = '' }: { id?: string } = useParams({ strict: false })
  const [asked, setAsked] = useState<Asked>()
  const [taken, setTaken] = useState<Taken>()
  const me = useMe()
  const found = useQuery({
    queryKey: ['payout-file', id],
    queryFn: ({ signal }) => ask(api.payoutFile, { params: { id }, signal }),
    refetchInterval: ({ state }) => (state.data?.state === 'approving' ? 1_000 : 10_000),
  })
  const file = found.data
  if (!file) {
    return (
      <>
        <PageHead title={says.untitled} />
        {found.isError ? <ProblemPanel error={found.error} /> : <Skeleton height={320} />}
      </>
    )
  }
  return (
    <>
      <PageHead
        title={says.title(file.account)}
        says={
          <>
            {says.says(file.count)} <Money amount={file.sum} currency={file.currency} />.
          </>
        }
      >
        <Actions file={file} setAsked={setAsked} />
      </PageHead>
      {found.isError && <ProblemPanel error={found.error} retry={() => void found.refetch()} />}
      <Stack gap="md">
        {file.proposals.map((proposal) => (
          <Waiting key={proposal.id} proposal={proposal} />
        ))}
        <div className={classes.columns}>
          <Panel title={says.steps.title}>
            <FileSteps file={file} isByCommand={nobodys.includes(file.made_by)} />
          </Panel>
          <Stack gap="md">
            <About file={file} />
            <Panel title={says.banks.title}>
              <DataTable
                label={says.banks.title}
                columns={bankColumns(file.currency)}
                rows={file.banks}
                rowKey={(row) => row.bank}
                empty="–"
              />
            </Panel>
          </Stack>
        </div>
        {file.sealed !== null && <BankAnswers file={file} taken={taken} />}
        <FileItems
          file={file}
          takeOut={isChangeable(file) ? (item) => setAsked({ what: 'take-out', item }) : undefined}
          whyNot={whyNot(me, 'make_payout_files')}
        />
      </Stack>
      {asked && (
        <FileDialog
          file={file}
          asked={asked}
          setTaken={setTaken}
          close={() => setAsked(undefined)}
        />
      )}
    </>
  )
}

/** Whether payouts can be taken out: they are handed over to the file, and nobody has downloaded it. */
function isChangeable({ state, approvals }: PayoutFileDetail): boolean {
  return state === 'approved' || (state === 'draft' && approvals.length > 0)
}

/** What somebody proposed about the file. */
function Waiting({ proposal }: { proposal: PayoutFileDetail['proposals'][number] }) {
  const { proposals } = says
  return (
    <Panel title={proposals.actions[proposal.action] ?? proposal.action}>
      <p role="status" className={classes.waiting}>
        {proposals.waits(proposal.by)}{' '}
        <PageLink to={pages.approval(proposal.id)}>{proposals.open}</PageLink>
      </p>
    </Panel>
  )
}

/** What can be done with the file now, the usual next step first. */
function Actions(props: { file: PayoutFileDetail; setAsked: (asked: Asked) => void }) {
  const { file, setAsked } = props
  const me = useMe()
  const mayMake = whyNot(me, 'make_payout_files')
  const own = file.made_by === me.user.email ? says.isOwn : undefined
  const byCommand =
    nobodys.includes(file.made_by) && me.user.role !== 'admin' ? says.onlyAdmin : undefined
  const isApprover =
    nobodys.includes(file.made_by) && file.approvals.at(-1)?.by === me.user.email
      ? says.isApprover
      : undefined
  const downloader = file.downloads[0]?.by === me.user.email ? says.isDownloader : undefined
  const isWithUs = file.state === 'exported'
  const isOver = file.state === 'approved' && file.sealed?.is_over === true
  const isOut = isWithUs || ['sent', 'acknowledged', 'closed'].includes(file.state)
  return (
    <>
      {file.state === 'draft' && (
        <ActButton
          size="sm"
          variant="filled"
          whyNot={whyNot(me, 'approve_payout_files') ?? own ?? byCommand}
          onClick={() => setAsked({ what: 'approve', shown: file })}
        >
          {says.approve.button}
        </ActButton>
      )}
      {isWithUs && (
        <ActButton
          size="sm"
          variant="filled"
          whyNot={mayMake ?? downloader ?? isApprover}
          onClick={() => setAsked({ what: 'sent' })}
        >
          {says.sent.button}
        </ActButton>
      )}
      {isOut && (
        <ActButton size="sm" whyNot={mayMake} onClick={() => setAsked({ what: 'answer' })}>
          {says.answer.button}
        </ActButton>
      )}
      {isOver && (
        <ActButton
          size="sm"
          variant="filled"
          whyNot={mayMake}
          onClick={() => setAsked({ what: 'reseal' })}
        >
          {says.reseal.button}
        </ActButton>
      )}
      {isOut && openItems(file).length > 0 && (
        <ActButton size="sm" whyNot={mayMake} onClick={() => setAsked({ what: 'abandon' })}>
          {says.abandon.button}
        </ActButton>
      )}
      {(file.can_send || file.put?.state === 'held') && (
        <ActButton
          size="sm"
          variant="filled"
          whyNot={mayMake ?? isApprover}
          onClick={() => setAsked({ what: 'send' })}
        >
          {says.send.button}
        </ActButton>
      )}
      {file.sealed !== null && (
        <ActButton
          size="sm"
          variant={file.state === 'approved' && !isOver && !file.can_send ? 'filled' : 'default'}
          whyNot={mayMake}
          onClick={() => setAsked({ what: 'download' })}
        >
          {says.download.button}
        </ActButton>
      )}
      {file.state === 'draft' && file.approvals.length === 0 && (
        <ActButton size="sm" whyNot={mayMake} onClick={() => setAsked({ what: 'cancel' })}>
          {says.cancel.button}
        </ActButton>
      )}
    </>
  )
}

function About({ file }: { file: PayoutFileDetail }) {
  const { facts } = says
  const { sealed } = file
  return (
    <Panel title={facts.title}>
      <Facts
        facts={[
          [facts.state, <StateBadge key="s" state={file.state} />],
          [
            facts.account,
            <PageLink key="a" to={pages.bankAccount(file.account)}>
              {file.account}
            </PageLink>,
          ],
          [facts.count, file.count],
          [facts.sum, <Money key="m" amount={file.sum} currency={file.currency} />],
          file.dropped > 0 && [facts.dropped, facts.droppedNote(file.dropped)],
          file.already_paid && [facts.alreadyPaid, facts.neverLeaves],
          file.debit !== null && [
            facts.debit,
            <span key="b">
              <Money amount={file.debit.amount} currency={file.currency} />{' '}
              {facts.debitNote(file.debit.day, file.debit.text)} <CopyId id={file.debit.movement} />
            </span>,
          ],
          file.debit !== null &&
            Number(file.debit.rest) !== 0 && [
              facts.rest,
              <span key="r">
                <Money amount={file.debit.rest} currency={file.currency} /> {facts.restNote}
              </span>,
            ],
          file.put !== null && [facts.put, `${says.put[file.put.state]} ${file.put.path}`],
          file.put?.fault != null && [
            facts.putFault,
            <span key="f" role="alert">
              {file.put.fault}
            </span>,
          ],
          [facts.format, file.format],
          [facts.digest, <CopyId key="d" id={file.digest} short />],
          sealed !== null && [facts.name, sealed.name],
          sealed !== null && [facts.execution, sealed.execution_date],
          sealed !== null && [facts.message, <CopyId key="i" id={sealed.message_id} />],
          sealed !== null && [facts.sha256, <CopyId key="h" id={sealed.sha256} short />],
        ]}
      />
    </Panel>
  )
}

function bankColumns(currency: string): Column<PayoutFileDetail['banks'][number]>[] {
  return [
    { key: 'bank', head: says.banks.bank, phone: 'plain', cell: (row) => row.bank },
    { key: 'count', head: says.banks.count, right: true, cell: (row) => row.count },
    {
      key: 'sum',
      head: says.banks.sum,
      right: true,
      cell: (row) => <Money amount={row.sum} currency={currency} />,
    },
  ]
}
