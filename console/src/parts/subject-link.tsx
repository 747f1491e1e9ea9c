import { pages } from '../paths.ts'
import { PageLink } from './page-link.tsx'
import { subjectWords } from './subject-words.ts'

const pageOf: Record<string, (id: string) => string> = {
  order: pages.order,
  agent: pages.agent,
  wallet: pages.wallet,
  payment: pages.payment,
  open_item: pages.openItem,
  proposal: pages.approval,
  payout_file: pages.payoutFile,
  provider: () => pages.providers,
  provider_routes: () => pages.providers,
  route: () => pages.providers,
  user: () => pages.users,
  limit: () => pages.limits,
  approval_rules: () => pages.rules,
  stop: () => pages.rules,
  alert_rule: () => pages.alerts,
  report: () => pages.reports,
  books: () => pages.books,
  event: () => pages.openItems,
}

interface Subject {
  kind: string
  id: string
}

/** The page of what something was done to; null if it has none, or does not exist yet. */
export function pageOfSubject({ kind, id }: Subject): string | null {
  // An attempt to make something does not know its id yet.
  return id === 'new' ? null : (pageOf[kind]?.(id) ?? null)
}

/** What something was done to, in words, which lead to its page if it has one. */
export function SubjectLink({ subject }: { subject: Subject }) {
  const { kind, id } = subject
  const text = `${subjectWords[kind] ?? kind.replaceAll('_', ' ')} ${id}`
  const to = pageOfSubject(subject)
  return to === null ? text : <PageLink to={to}>{text}</PageLink>
}
