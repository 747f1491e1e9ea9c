import type { Answer } from '../../api.ts'
import type { api } from '../../paths.ts'

export type AgentDetail = Answer<typeof api.agent>

export const agentKey = (appId: string) => ['agent', appId]
