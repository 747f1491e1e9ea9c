import { pages } from '../paths.ts'
import { PageLink } from './page-link.tsx'

/** The tags of an order; each leads to all orders that have it. */
export function Tags({ tags }: { tags: readonly string[] }) {
  return tags.map((tag, at) => (
    <span key={tag}>
      {at > 0 && ', '}
      <PageLink to={pages.orders} search={{ tag }}>
        {tag}
      </PageLink>
    </span>
  ))
}
