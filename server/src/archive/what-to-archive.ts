import type { Currency } from '../lib/money.ts'

export interface ArchiveOptions {
  /** Rows that were written before this leave the journal. */
  before: Date
  folder: string
  now: () => Date
  appId?: string
  /** Says what would go, and changes nothing. */
  dryRun?: boolean
  /** Journal rows in one part. */
  partRows?: number
  onProgress?: (text: string) => void
  /** Called after each step, for tests that stop there. */
  onStep?: (step: Step) => void
}

export type Step = 'journal' | 'orders' | 'manifest' | 'recorded' | 'some removed' | 'removed'

/** What was done for one agent. */
export interface Archived {
  appId: string
  parts: number
  journalRows: number
  orders: number
  /** Orders that have left the books; one that changed after it was written to the file stays. */
  removedOrders: number
  toSeq: bigint
}

export interface AgentToArchive {
  agent_id: bigint
  app_id: string
  currency: Currency
}
