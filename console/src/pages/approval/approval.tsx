import { Skeleton, Stack } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { type Answer, addressOf, ask } from '../../api.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { AgentLink } from '../../parts/agent-link.tsx'
import { CopyId } from '../../parts/copy-id.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Money } from '../../parts/money.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Panel } from '../../parts/panel.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { ShownOnce } from '../../parts/secret-once.tsx'
import { StateBadge, Toned } from '../../parts/state-badge.tsx'
import { SubjectLink } from '../../parts/subject-link.tsx'
import { When } from '../../parts/when.tsx'
import { api } from '../../paths.ts'
import { may } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import classes from './approval.module.css'
import { approvalWords as says } from './approval-words.ts'
import { Changes } from './changes.tsx'
import { titleWords } from './title-words.ts'

type Proposal = Answer<typeof api.approval>

/** One proposal: what would change, and the decision on it. */
export default function Approval() {
  const { id = '' }: { id?: string } = useParams({ strict: false })
  const [asking, setAsking] = useState<'approve' | 'decline' | 'secret'>()
  const [secret, setSecret] = useState<string>()
  const queries = useQueryClient()
  const params = { id }
  const queryKey = ['approval', id]
  const found = useQuery({
    queryKey,
    queryFn: ({ signal }) => ask(api.approval, { params, signal }),
    refetchInterval: 8000,
  })
  const decided = async (message: string) => {
    await queries.invalidateQueries({ queryKey })
    void queries.invalidateQueries({ queryKey: ['approvals'] })
    notifications.show({ message })
  }
  const withdrawing = useMutation({
    mutationFn: () => ask(api.withdrawProposal, { params }),
    onSuccess: () => decided(says.withdrawn),
  })
  if (!found.data) {
    return (
      <>
        <PageHead title={says.title} />
        {found.isError ? <ProblemPanel error={found.error} /> : <Skeleton height={320} />}
      </>
    )
  }
  const proposal = found.data
  const isOpen = proposal.state === 'open'
  const close = () => setAsking(undefined)
  return (
    <>
      <PageHead title={titleWords[proposal.action] ?? proposal.title}>
        {isOpen && !proposal.own && (
          <>
            <ActButton
              size="sm"
              variant="filled"
              whyNot={proposal.may_approve ? undefined : proposal.why_not}
              onClick={() => setAsking('approve')}
            >
              {says.approve}
            </ActButton>
            <ActButton size="sm" onClick={() => setAsking('decline')}>
              {says.decline}
            </ActButton>
          </>
        )}
        {isOpen && proposal.own && (
          <ActButton size="sm" onClick={() => withdrawing.mutate()}>
            {says.withdraw}
          </ActButton>
        )}
        {proposal.has_answer && (
          <ActButton size="sm" variant="filled" onClick={() => setAsking('secret')}>
            {says.showSecret}
          </ActButton>
        )}
      </PageHead>
      {withdrawing.isError && <ProblemPanel error={withdrawing.error} />}
      <Stack gap="md">
        <About proposal={proposal} />
        <Panel title={says.changes}>
          <Changes
            before={proposal.before}
            after={proposal.after}
            beside={proposal.beside}
            isOfPayments={proposal.subject.kind === 'payments'}
          />
        </Panel>
        <Slip proposal={proposal} />
      </Stack>
      {asking === 'approve' && (
        <ActDialog
          draft="approving"
          title={says.approveTitle}
          explain={says.approveExplain}
          confirm={says.approve}
          needsReason={false}
          close={close}
          act={async ({ code }) => {
            const body = { digest: proposal.digest, code }
            const { problem } = await ask(api.approve, { params, body })
            await decided(problem ? problem.detail : says.approved)
          }}
        />
      )}
      {asking === 'decline' && (
        <ActDialog
          draft="declining"
          title={says.declineTitle}
          explain={says.declineExplain}
          confirm={says.decline}
          danger
          close={close}
          act={async ({ reason, code }) => {
            await ask(api.decline, { params, body: { reason, code } })
            await decided(says.declined)
          }}
        />
      )}
      {asking === 'secret' && (
        <ActDialog
          draft="looking"
          title={says.secretTitle}
          explain={says.secretExplain}
          confirm={says.showSecret}
          needsReason={false}
          close={close}
          act={async ({ code }) => {
            const { answer } = await ask(api.proposalAnswer, { params, body: { code } })
            setSecret(JSON.stringify(answer, null, 2))
          }}
        />
      )}
      {secret !== undefined && (
        <ShownOnce
          title={says.secretTitle}
          says={says.secretOnce}
          value={secret}
          close={() => {
            setSecret(undefined)
            void queries.invalidateQueries({ queryKey })
          }}
        />
      )}
    </>
  )
}

/** The slip that would be believed: who approves must have seen it. */
function Slip({ proposal }: { proposal: Proposal }) {
  const { slip } = Object(proposal.after) as { slip?: unknown }
  const { beware } = Object(proposal.beside?.after) as { beware?: unknown }
  const isSeen = may(useMe(), 'decide_payments')
  if (proposal.action !== 'record_payment' || typeof slip !== 'string' || !isSeen) return null
  return (
    <Panel title={says.slip}>
      {typeof beware === 'string' && (
        <p role="note">
          <Toned tone="bad">{says.beware}</Toned> {beware}
        </p>
      )}
      <img
        className={classes.slip}
        src={addressOf(api.slip, { params: { slip } })}
        alt={says.slipAlt}
      />
    </Panel>
  )
}

function About({ proposal }: { proposal: Proposal }) {
  const { facts } = says
  return (
    <Panel>
      {proposal.own && proposal.state === 'open' && <p>{says.isOwn}</p>}
      <Facts
        facts={[
          [facts.state, <StateBadge key="s" state={`proposal_${proposal.state}`} />],
          [facts.about, <SubjectLink key="o" subject={proposal.subject} />],
          proposal.agent_name !== null && [facts.agent, <AgentLink key="n" {...proposal} />],
          proposal.amount !== null &&
            proposal.currency !== null && [
              facts.amount,
              <Money key="m" amount={proposal.amount} currency={proposal.currency} />,
            ],
          proposal.reason !== null && [facts.reason, proposal.reason],
          [facts.by, proposal.proposed_by],
          [facts.at, <When key="a" at={proposal.proposed_at} />],
          [facts.until, <When key="u" at={proposal.expires_at} />],
          proposal.decided_by !== null && [facts.decidedBy, proposal.decided_by],
          proposal.decided_at !== null && [
            facts.decidedAt,
            <When key="d" at={proposal.decided_at} />,
          ],
          proposal.decision_reason !== null && [facts.decisionReason, proposal.decision_reason],
          proposal.problem !== null && [facts.problem, proposal.problem.detail],
          [facts.digest, <CopyId key="g" id={proposal.digest} short />],
        ]}
      />
    </Panel>
  )
}
