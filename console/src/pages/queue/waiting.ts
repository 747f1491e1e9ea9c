import type { Answer } from '../../api.ts'
import { type api, pages } from '../../paths.ts'
import { stateWords } from '../../words.ts'
import { titleWords } from '../approval/title-words.ts'

/** Something that waits for a person. */
export type Waiting = Answer<typeof api.queue>['data'][number]

export function titleOf(item: Waiting): string {
  const words = item.kind === 'approval' ? titleWords : stateWords
  const title = words[item.title] ?? item.title
  return item.agent_name === null ? title : `${item.agent_name} · ${title}`
}

/** The page on which it is looked into. */
export function placeOf(item: Waiting): { to: string; search?: Record<string, string> } {
  switch (item.kind) {
    case 'payment':
      return { to: pages.payment(item.id) }
    case 'approval':
      // What is approved on a page of its own names that.
      return { to: item.at.startsWith('/') ? item.at : pages.approval(item.id) }
    case 'movement':
      return { to: pages.bankAccount(item.at), search: { view: 'movements', state: 'unexplained' } }
    case 'payout':
      return { to: pages.order(item.id) }
    case 'break': {
      const [account = '', day = ''] = item.id.split(' ')
      return { to: pages.reconciliation, search: { account, day, month: day.slice(0, 7) } }
    }
    default:
      return { to: pages.openItem(item.id) }
  }
}
