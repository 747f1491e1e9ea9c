import { pages } from '../paths.ts'
import { PageLink } from './page-link.tsx'

/** An agent's name, which leads to its page; a dash where there is no agent. */
export function AgentLink(props: { app_id: string | null; agent_name: string | null }) {
  if (props.app_id === null || props.agent_name === null) return '–'
  return <PageLink to={pages.agent(props.app_id)}>{props.agent_name}</PageLink>
}
