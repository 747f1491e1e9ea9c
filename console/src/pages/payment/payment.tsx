import { Group, Skeleton, Stack } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { ask } from '../../api.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { AgentLink } from '../../parts/agent-link.tsx'
import { CopyId } from '../../parts/copy-id.tsx'
import { useDraft } from '../../parts/draft.ts'
import { Facts } from '../../parts/facts.tsx'
import { Money, moneyText } from '../../parts/money.tsx'
import { Notes } from '../../parts/notes.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Panel } from '../../parts/panel.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { When } from '../../parts/when.tsx'
import { api, pages } from '../../paths.ts'
import { whyNot } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import { Candidates } from './candidates.tsx'
import { type Decision, DecisionDialog } from './decision-dialog.tsx'
import { type PaymentDetail, paymentKey } from './payment-detail.ts'
import { paymentWords as says } from './payment-words.ts'

export default function Payment() {
  const { paymentId = '' }: { paymentId?: string } = useParams({ strict: false })
  const [asked, setAsked] = useDraft<Decision | null>('decision', null)
  const me = useMe()
  const queries = useQueryClient()
  const params = { payment_id: paymentId }
  const found = useQuery({
    queryKey: paymentKey(paymentId),
    queryFn: ({ signal }) => ask(api.payment, { params, signal }),
    refetchInterval: 8000,
  })
  if (!found.data) {
    return (
      <>
        <PageHead title={says.title} />
        {found.isError ? <ProblemPanel error={found.error} /> : <Skeleton height={320} />}
      </>
    )
  }
  const { payment } = found.data
  const whyDisabled =
    whyNot(me, 'decide_payments') ?? (payment.state === 'waiting' ? undefined : says.isDecided)
  return (
    <>
      <PageHead
        title={says.heading(`${moneyText(payment.amount, payment.currency)} ${payment.currency}`)}
        says={<CopyId id={payment.payment_id} />}
      >
        <ActButton size="sm" whyNot={whyDisabled} onClick={() => setAsked({ kind: 'wallet' })}>
          {says.toWallet}
        </ActButton>
        <ActButton size="sm" whyNot={whyDisabled} onClick={() => setAsked({ kind: 'return' })}>
          {says.return}
        </ActButton>
        <ActButton
          size="sm"
          whyNot={whyDisabled ?? (payment.app_id === null ? undefined : says.dismissNotNobodys)}
          onClick={() => setAsked({ kind: 'dismiss' })}
        >
          {says.dismiss}
        </ActButton>
      </PageHead>
      <Stack gap="md">
        <Group grow align="stretch" preventGrowOverflow={false} gap="md">
          <About payment={payment} />
          <Notes
            assignee={payment.assignee}
            notes={found.data.notes}
            whyDisabled={whyNot(me, 'decide_payments')}
            assign={(assignee, insteadOf) =>
              ask(api.assignPayment, { params, body: { assignee, instead_of: insteadOf } })
            }
            add={(note) => ask(api.notePayment, { params, body: { note } })}
            changed={() => queries.invalidateQueries({ queryKey: paymentKey(paymentId) })}
          />
        </Group>
        {found.data.contradicted && (
          <Panel title={says.contradicts}>
            <p>{says.contradictsSays}</p>
            <CopyId
              id={found.data.contradicted.payment_id}
              to={pages.payment(found.data.contradicted.payment_id)}
            />
            <About payment={found.data.contradicted} />
          </Panel>
        )}
        {payment.state === 'waiting' ? (
          <Panel title={says.candidates}>
            <Candidates
              detail={found.data}
              whyDisabled={whyDisabled}
              credit={(txnId) => setAsked({ kind: 'order', txnId })}
            />
          </Panel>
        ) : (
          <Decided decision={found.data.decision} />
        )}
      </Stack>
      {asked && <DecisionDialog payment={payment} decision={asked} close={() => setAsked(null)} />}
    </>
  )
}

/** Who decided on it, and why. */
function Decided({ decision }: Pick<PaymentDetail, 'decision'>) {
  const { decided } = says
  if (!decision) {
    return (
      <Panel title={decided.title}>
        <p>{decided.nobody}</p>
      </Panel>
    )
  }
  const { txn_id, wallet, approved_by, evidence } = decision
  return (
    <Panel title={decided.title}>
      <Facts
        facts={[
          [decided.what, decided.actions[decision.action]],
          txn_id !== null && [
            decided.order,
            <CopyId key="o" id={txn_id} to={pages.order(txn_id)} />,
          ],
          wallet !== null && [
            decided.wallet,
            <CopyId key="w" id={wallet} to={pages.wallet(wallet)} />,
          ],
          [decided.at, <When key="a" at={decision.at} />],
          [decided.by, decision.by],
          approved_by !== null && [decided.approvedBy, approved_by],
          [decided.reason, decision.reason ?? '–'],
          evidence !== null && [decided.evidence, evidence],
        ]}
      />
    </Panel>
  )
}

function About({ payment }: Pick<PaymentDetail, 'payment'>) {
  const { facts } = says
  const { payer } = payment
  return (
    <Panel>
      <Facts
        facts={[
          [
            facts.state,
            <Group key="s" gap={6}>
              <StateBadge state={payment.state === 'waiting' ? 'to_decide' : payment.state} />
              {payment.why !== null && <StateBadge state={payment.why} />}
            </Group>,
          ],
          payment.why !== null && [facts.why, says.whys[payment.why]],
          [facts.amount, <Money key="m" amount={payment.amount} currency={payment.currency} />],
          [facts.paidAt, <When key="p" at={payment.paid_at} />],
          [facts.reportedAt, <When key="r" at={payment.reported_at} />],
          [facts.agent, <AgentLink key="agent" {...payment} />],
          payment.txn_id !== null && [
            facts.order,
            <CopyId key="o" id={payment.txn_id} to={pages.order(payment.txn_id)} />,
          ],
          payment.reference !== null && [facts.reference, payment.reference],
          payer !== null && [facts.payer, payer.account_name ?? '–'],
          payer !== null && [
            facts.account,
            [payer.bank_code, payer.account_no].filter(Boolean).join(' ') || '–',
          ],
          payment.evidence !== null && [facts.evidence, payment.evidence],
        ]}
      />
    </Panel>
  )
}
