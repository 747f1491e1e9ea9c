import type { Currency } from '../lib/money.ts'

export interface ArchiveOptions {
  /** Journal rows written before this time are archived. */
  before: Date
  folder: string
  now: () => Date
  appId?: string
  /** Reports what would be archived, and changes nothing. */
  dryRun?: boolean
  /** The most journal rows in one part. */
  partRows?: number
  onProgress?: (text: string) => void
  /** Called after each step, for tests that stop there. */
  onStep?: (step: Step) => void
}

export type Step = 'journal' | 'orders' | 'manifest' | 'recorded' | 'some removed' | 'removed'

/** The result for one agent. */
export interface Archived {
  appId: string
  parts: number
  journalRows: number
  orders: number
  /** Orders removed from the books; an order that changed after it was written to the file stays. */
  removedOrders: number
  toSeq: bigint
}

export interface AgentToArchive {
  agent_id: bigint
  app_id: string
  currency: Currency
}
