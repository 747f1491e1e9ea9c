import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { Problem } from '../lib/problem.ts'

/** What people mark: an order, a user of its agent, or an account that pays or is paid. */
export interface Marked {
  agentId: bigint
  kind: 'order' | 'user' | 'account'
  subject: string
}

export interface Mark extends Marked {
  tags: string[]
  /** Who looks into it. */
  assignee: string | null
  notes: {
    at: Date
    author: string
    assigns: boolean
    assignee: string | null
    note: string | null
  }[]
}

/** What is kept of a record's notes and shown of them. */
const mostNotes = 200
/** More would not be read. */
const mostTags = 20
const mostViews = 100

/** What people know of some records, in their order. */
export async function readMarks(pool: Pool, marked: readonly Marked[]): Promise<Mark[]> {
  const keys = [
    marked.map(({ agentId }) => agentId),
    marked.map(({ kind }) => kind),
    marked.map(({ subject }) => subject),
  ]
  const named = 'unnest($1::bigint[], $2::text[], $3::text[]) k(agent_id, kind, subject)'
  const same = 'agent_id = k.agent_id and r.kind = k.kind and r.subject = k.subject'
  const [{ rows: tags }, { rows: notes }] = await Promise.all([
    pool.query<Marked & { tag: string }>(
      `select r.agent_id as "agentId", r.kind, r.subject, r.tag from ${named}
       join record_tags r on r.${same} and r.is_on order by r.tag`,
      keys,
    ),
    pool.query<Marked & Mark['notes'][number]>(
      `select r.agent_id as "agentId", r.kind, r.subject, r.at, r.author, r.assigns, r.assignee, r.note
       from ${named} cross join lateral (select * from record_notes r where r.${same}
         order by r.note_no desc limit ${mostNotes}) r order by r.note_no`,
      keys,
    ),
  ])
  return marked.map((each) => {
    const isOf = (row: Marked) =>
      row.agentId === each.agentId && row.kind === each.kind && row.subject === each.subject
    const own = notes.filter(isOf)
    return {
      ...each,
      tags: tags.filter(isOf).map(({ tag }) => tag),
      assignee: own.findLast(({ assigns }) => assigns)?.assignee ?? null,
      notes: own.map(({ at, author, assigns, assignee, note }) => ({
        ...{ at, author, assigns, assignee, note },
      })),
    }
  })
}

/** The tags of some orders, in their order. */
export async function tagsOfOrders(
  pool: Pool,
  orders: readonly { agentId: bigint; orderId: string }[],
): Promise<string[][]> {
  const { rows } = await pool.query<{ at: bigint; tags: string[] }>(
    `select k.at, array_agg(r.tag order by r.tag) as tags
     from unnest($1::bigint[], $2::text[]) with ordinality k(agent_id, subject, at)
     join record_tags r on r.agent_id = k.agent_id and r.kind = 'order' and r.subject = k.subject and r.is_on
     group by k.at`,
    [orders.map(({ agentId }) => agentId), orders.map(({ orderId }) => orderId)],
  )
  const byPlace = new Map(rows.map(({ at, tags }) => [Number(at), tags]))
  return orders.map((_, place) => byPlace.get(place + 1) ?? [])
}

/** Who looks into each of some orders, in their order. */
export async function assigneesOfOrders(
  pool: Pool,
  orders: readonly { agentId: bigint; orderId: string }[],
): Promise<(string | null)[]> {
  const { rows } = await pool.query<{ at: bigint; assignee: string | null }>(
    `select k.at, n.assignee
     from unnest($1::bigint[], $2::text[]) with ordinality k(agent_id, subject, at)
     cross join lateral (
       select r.assignee from record_notes r where r.agent_id = k.agent_id and r.kind = 'order'
         and r.subject = k.subject and r.assigns order by r.note_no desc limit 1
     ) n`,
    [orders.map(({ agentId }) => agentId), orders.map(({ orderId }) => orderId)],
  )
  const byPlace = new Map(rows.map(({ at, assignee }) => [Number(at), assignee]))
  return orders.map((_, place) => byPlace.get(place + 1) ?? null)
}

/** Puts a tag on a record, or takes it off. Twice is once. */
export async function setTag(
  pool: Tx,
  { agentId, kind, subject }: Marked,
  tag: string,
  isOn: boolean,
  by: { name: string; at: Date },
): Promise<void> {
  const { rows } = await pool.query<{ count: number }>(
    `select count(*)::int as count from record_tags
     where agent_id = $1 and kind = $2 and subject = $3 and tag <> $4 and is_on`,
    [agentId, kind, subject, tag],
  )
  if (isOn && (rows[0]?.count ?? 0) >= mostTags) {
    throw new Problem('invalid_transition', `It has ${mostTags} tags. Take one off first.`)
  }
  await pool.query(
    `insert into record_tags as t (agent_id, kind, subject, tag, is_on, tagged_by, tagged_at)
     values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (agent_id, kind, subject, tag) do update
       set is_on = excluded.is_on, tagged_by = excluded.tagged_by, tagged_at = excluded.tagged_at
       where t.is_on <> excluded.is_on`,
    [agentId, kind, subject, tag, isOn, by.name, by.at],
  )
}

/** Notes what was found out about a record, or who looks into it. */
export async function addNote(
  pool: Tx,
  { agentId, kind, subject }: Marked,
  said: { note: string } | { assignee: string | null },
  by: { name: string; at: Date },
): Promise<void> {
  const assigns = 'assignee' in said
  for (let attempt = 0; attempt < 10; attempt++) {
    const { rowCount } = await pool.query(
      `insert into record_notes (agent_id, kind, subject, note_no, at, author, assigns, assignee, note)
       select $1, $2, $3, coalesce(max(note_no), 0) + 1, $4, $5, $6, $7, $8 from record_notes
       where agent_id = $1 and kind = $2 and subject = $3
       on conflict do nothing`,
      [
        ...[agentId, kind, subject, by.at, by.name, assigns],
        assigns ? said.assignee : null,
        assigns ? null : said.note,
      ],
    )
    if (rowCount === 1) return
  }
  throw new Problem('changed_meanwhile', 'Others write notes about it at the moment. Try again.')
}

/** Named filters of a page that everybody sees. */
export interface SharedView {
  name: string
  filters: string
  sharedBy: string
}

export async function readSharedViews(pool: Pool, page: string): Promise<SharedView[]> {
  const { rows } = await pool.query<SharedView>(
    `select name, filters, shared_by as "sharedBy" from shared_views where page = $1 order by name
     limit ${mostViews}`,
    [page],
  )
  return rows
}

/** Shares a view under a name that is free. Returns false if another view has it. */
export async function shareView(
  pool: Tx,
  page: string,
  view: SharedView,
  at: Date,
): Promise<boolean> {
  const { rows } = await pool.query<{ count: number }>(
    'select count(*)::int as count from shared_views where page = $1',
    [page],
  )
  if ((rows[0]?.count ?? 0) >= mostViews) {
    throw new Problem(
      'invalid_transition',
      `There are ${mostViews} shared views. Remove one first.`,
    )
  }
  const { rowCount } = await pool.query(
    `insert into shared_views (page, name, filters, shared_by, shared_at)
     values ($1, $2, $3, $4, $5) on conflict do nothing`,
    [page, view.name, view.filters, view.sharedBy, at],
  )
  return rowCount === 1
}

/** Returns the filters that it had; undefined if there was none. */
export async function forgetSharedView(
  pool: Tx,
  page: string,
  name: string,
): Promise<string | undefined> {
  const { rows } = await pool.query<{ filters: string }>(
    'delete from shared_views where page = $1 and name = $2 returning filters',
    [page, name],
  )
  return rows[0]?.filters
}
