import { Group, Skeleton } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { ask } from '../../api.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { CopyId } from '../../parts/copy-id.tsx'
import { useDraft } from '../../parts/draft.ts'
import { PageHead } from '../../parts/page-head.tsx'
import { PageLink } from '../../parts/page-link.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { api, pages } from '../../paths.ts'
import { whyNot } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import { viewAsAgent } from '../../shell/agent-view.ts'
import { viewWords } from '../../shell/view-words.ts'
import { Addresses } from './addresses.tsx'
import classes from './agent.module.css'
import { type AgentDetail, agentKey } from './agent-detail.ts'
import { agentWords as says } from './agent-words.ts'
import { FeePreview } from './fee-preview.tsx'
import { Glance } from './glance.tsx'
import { Keys } from './keys.tsx'
import { Looks } from './looks.tsx'
import { Secrets } from './secrets.tsx'
import { Terms } from './terms.tsx'

export default function Agent() {
  const { appId = '' }: { appId?: string } = useParams({ strict: false })
  const me = useMe()
  const [asked, setAsked] = useDraft<'suspend' | 'resume' | null>('status', null)
  const found = useQuery({
    queryKey: agentKey(appId),
    queryFn: ({ signal }) => ask(api.agent, { params: { app_id: appId }, signal }),
  })
  if (!found.data) {
    return (
      <>
        <PageHead title={says.title} />
        {found.isError ? <ProblemPanel error={found.error} /> : <Skeleton height={320} />}
      </>
    )
  }
  const { data: agent } = found
  const isAgent = me.user.role === 'agent'
  const isSuspended = agent.status === 'suspended'
  return (
    <>
      <PageHead
        title={agent.name}
        says={
          <Group gap="xs" component="span">
            <CopyId id={agent.app_id} />
            <StateBadge state={agent.status} />
          </Group>
        }
      >
        {!isAgent && (
          <ActButton
            size="sm"
            whyNot={whyNot(me, 'view_as_agents')}
            onClick={() => void viewAsAgent(agent.app_id)}
          >
            {viewWords.start}
          </ActButton>
        )}
        {!isAgent && <StopAgent agent={agent} />}
        {!isAgent && (
          <ActButton
            size="sm"
            whyNot={whyNot(me, 'manage_agents')}
            onClick={() => setAsked(isSuspended ? 'resume' : 'suspend')}
          >
            {isSuspended ? says.resume : says.suspend}
          </ActButton>
        )}
      </PageHead>
      {!isAgent && <Glance agent={agent} />}
      <div className={classes.panels}>
        <Addresses agent={agent} />
        <Keys agent={agent} />
        <Secrets agent={agent} />
        {isAgent && <Looks agent={agent} />}
        {!isAgent && <FeePreview agent={agent} />}
        <div className={classes.wide}>
          <Terms agent={agent} />
        </div>
      </div>
      {asked && <StatusDialog agent={agent} verb={asked} close={() => setAsked(null)} />}
    </>
  )
}

/** Stops the payouts of one agent at once; the page of the rules starts them again. */
function StopAgent({ agent }: { agent: AgentDetail }) {
  const [isAsked, setAsked] = useDraft('stop', false)
  const queries = useQueryClient()
  const me = useMe()
  const stops = useQuery({
    queryKey: ['stops'],
    queryFn: ({ signal }) => ask(api.stops, { signal }),
  })
  if (stops.data?.data.some(({ app_id }) => app_id === agent.app_id)) {
    return <PageLink to={pages.rules}>{says.isStopped}</PageLink>
  }
  return (
    <>
      <ActButton
        size="sm"
        color="red.8"
        whyNot={whyNot(me, 'act_on_orders')}
        onClick={() => setAsked(true)}
      >
        {says.stop}
      </ActButton>
      {isAsked && (
        <ActDialog
          draft="stop"
          title={says.titleOf(says.stop, agent.name)}
          explain={says.stopExplain}
          confirm={says.stop}
          danger
          needsCode={false}
          close={() => setAsked(false)}
          act={async ({ reason }) => {
            await ask(api.stop, { body: { app_id: agent.app_id, reason } })
            await queries.invalidateQueries({ queryKey: ['stops'] })
            notifications.show({ message: says.stopped })
          }}
        />
      )}
    </>
  )
}

function StatusDialog(props: {
  agent: AgentDetail
  verb: 'suspend' | 'resume'
  close: () => void
}) {
  const { agent, verb, close } = props
  const queries = useQueryClient()
  const label = says[verb]
  return (
    <ActDialog
      draft={`status/${verb}`}
      title={says.titleOf(label, agent.name)}
      explain={verb === 'resume' ? says.resumeExplain : says.suspendExplain}
      confirm={label}
      danger={verb === 'suspend'}
      close={close}
      needsCode={verb === 'resume'}
      act={async ({ reason, code }) => {
        await ask(verb === 'resume' ? api.resumeAgent : api.suspendAgent, {
          params: { app_id: agent.app_id },
          body: { reason, ...(verb === 'resume' && { code }) },
        })
        await queries.invalidateQueries({ queryKey: agentKey(agent.app_id) })
        void queries.invalidateQueries({ queryKey: ['agents'] })
      }}
    />
  )
}
