import { Skeleton, Stack } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { ask } from '../../api.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { AgentLink } from '../../parts/agent-link.tsx'
import { CopyId } from '../../parts/copy-id.tsx'
import { useDraft } from '../../parts/draft.ts'
import { Facts } from '../../parts/facts.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Panel } from '../../parts/panel.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { RawView } from '../../parts/raw-view.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { When } from '../../parts/when.tsx'
import { api, pages } from '../../paths.ts'
import { whyNot } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import { stateWords } from '../../words.ts'
import classes from '../me/me.module.css'
import { Attempts } from './attempts.tsx'
import type { CallbackDetail } from './callback-detail.ts'
import { callbackWords as says } from './callback-words.ts'

export default function Callback() {
  const { appId = '', seq = '' }: { appId?: string; seq?: string } = useParams({ strict: false })
  const params = { app_id: appId, seq }
  const queryKey = ['callback', appId, seq]
  const me = useMe()
  const queries = useQueryClient()
  const [isResending, setResending] = useDraft('resend', false)
  const found = useQuery({
    queryKey,
    queryFn: ({ signal }) => ask(api.callback, { params, signal }),
    refetchInterval: 4000,
  })
  if (!found.data) {
    return (
      <>
        <PageHead title={says.title} />
        {found.isError ? <ProblemPanel error={found.error} /> : <Skeleton height={320} />}
      </>
    )
  }
  const { data: callback } = found
  return (
    <>
      <PageHead title={says.heading(callback.seq, stateWords[callback.status] ?? callback.status)}>
        <ActButton
          size="sm"
          whyNot={whyNot(me, 'resend_callbacks')}
          onClick={() => setResending(true)}
        >
          {says.resend}
        </ActButton>
      </PageHead>
      <Stack gap="md">
        <About callback={callback} />
        <Panel title={says.attempts}>
          <Attempts attempts={callback.attempts_made} />
        </Panel>
        <div className={classes.panels}>
          <Panel title={says.body}>
            <RawView raw={callback.body} label={says.body} />
          </Panel>
          <Panel title={says.curl}>
            <RawView raw={callback.curl} label={says.curl} />
          </Panel>
        </div>
      </Stack>
      {isResending && (
        <ActDialog
          draft="resend"
          title={says.resendTitle(callback.seq)}
          explain={says.resendExplain}
          confirm={says.resend}
          needsCode={false}
          close={() => setResending(false)}
          act={async ({ reason }) => {
            await ask(api.resendCallback, { params, body: { reason } })
            await queries.invalidateQueries({ queryKey })
            notifications.show({ message: says.resent })
          }}
        />
      )}
    </>
  )
}

function About({ callback }: { callback: CallbackDetail }) {
  const { facts } = says
  return (
    <Panel>
      <Facts
        facts={[
          [facts.delivery, <StateBadge key="d" state={callback.delivery} />],
          [facts.agent, <AgentLink key="agent" {...callback} />],
          [facts.order, <CopyId key="o" id={callback.txn_id} to={pages.order(callback.txn_id)} />],
          [facts.refId, <CopyId key="r" id={callback.ref_id} />],
          [facts.url, callback.url === null ? says.noUrl : <CopyId key="u" id={callback.url} />],
          [facts.at, <When key="a" at={callback.at} />],
          callback.delivered_at !== null && [
            facts.deliveredAt,
            <When key="l" at={callback.delivered_at} />,
          ],
          callback.due_at !== null && [facts.due, <When key="n" at={callback.due_at} />],
        ]}
      />
    </Panel>
  )
}
