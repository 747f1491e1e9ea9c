import { useQuery, useQueryClient } from '@tanstack/react-query'
import { ask, type Row } from '../../api.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { AgentLink } from '../../parts/agent-link.tsx'
import { useDraft } from '../../parts/draft.ts'
import { PageLink } from '../../parts/page-link.tsx'
import { Sparkline, type Trend, useTrends } from '../../parts/sparkline.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { When } from '../../parts/when.tsx'
import { api, pages } from '../../paths.ts'
import { whyNot } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import { callbacksWords } from './callbacks-words.ts'
import classes from './lanes.module.css'

type Lane = Row<typeof api.lanes>

const { lanes: says } = callbacksWords

/** The agents whose callbacks are held up, and why. */
export function Lanes() {
  const { data } = useQuery({
    queryKey: ['lanes'],
    queryFn: ({ signal }) => ask(api.lanes, { signal }),
    refetchInterval: 5000,
  })
  const trendOf = useTrends('lanes')
  const isAgent = useMe().user.role === 'agent'
  const [asked, setAsked] = useDraft<{ appId: string; resumes: boolean } | null>('lane', null)
  const lane = data?.data.find(({ app_id }) => app_id === asked?.appId)
  const notable = (data?.data ?? []).filter(
    (lane) =>
      isAgent || lane.state !== 'open' || lane.waiting + lane.given_up + lane.no_address > 0,
  )
  if (notable.length === 0) return null
  return (
    <ul className={classes.lanes} aria-label={says.title}>
      {notable.map((each) => (
        <LaneCard
          key={each.app_id}
          lane={each}
          trend={trendOf(each.app_id)}
          ask={() => setAsked({ appId: each.app_id, resumes: each.state === 'paused' })}
        />
      ))}
      {asked && lane && (
        <LaneDialog lane={lane} resumes={asked.resumes} close={() => setAsked(null)} />
      )}
    </ul>
  )
}

function LaneCard(props: { lane: Lane; trend: Trend | undefined; ask: () => void }) {
  const { lane, trend, ask: open } = props
  const me = useMe()
  const { app_id, waiting, given_up, no_address } = lane
  const count = (n: number, label: string, state: string) =>
    n > 0 && (
      <PageLink to={pages.callbacks} search={{ agent: app_id, state }}>
        {says.count(n, label)}
      </PageLink>
    )
  return (
    <li className={classes.lane}>
      <div className={classes.head}>
        <strong>
          <AgentLink {...lane} />
        </strong>
        <StateBadge state={lane.state} tone={lane.health} />
      </div>
      <Sparkline of="lanes" trend={trend} />
      {lane.why !== null && <p className={classes.why}>{lane.why}</p>}
      <div className={classes.counts}>
        {count(waiting, says.waiting, 'waiting')}
        {count(lane.failing, says.failing, 'failing')}
        {count(given_up, says.givenUp, 'exhausted')}
        {count(lane.superseded, says.superseded, 'superseded')}
        {count(no_address, says.noAddress, 'no_address')}
        {lane.oldest_at !== null && (
          <span>
            {says.oldest} <When at={lane.oldest_at} ago />
          </span>
        )}
        {lane.probe_at !== null && lane.state !== 'paused' && (
          <span>
            {says.probe} <When at={lane.probe_at} due />
          </span>
        )}
      </div>
      {me.user.role !== 'agent' && (
        <ActButton size="compact-xs" whyNot={whyNot(me, 'manage_agents')} onClick={open}>
          {lane.state === 'paused' ? says.resume : says.pause}
        </ActButton>
      )}
    </li>
  )
}

function LaneDialog(props: { lane: Lane; resumes: boolean; close: () => void }) {
  const { lane, resumes, close } = props
  const verb = resumes ? says.resume : says.pause
  const queries = useQueryClient()
  return (
    <ActDialog
      draft={`lane/${lane.app_id}/${resumes ? 'resume' : 'pause'}`}
      title={says.dialog(verb, lane.agent_name)}
      explain={resumes ? says.resumeExplain : says.pauseExplain}
      confirm={verb}
      close={close}
      needsCode={resumes}
      act={async ({ reason, code }) => {
        const params = { app_id: lane.app_id }
        await ask(resumes ? api.resumeLane : api.pauseLane, {
          params,
          body: { reason, ...(resumes && { code }) },
        })
        await queries.invalidateQueries({ queryKey: ['lanes'] })
      }}
    />
  )
}
