import type { ChaosAgent, World } from './world.ts'

/** Everything that a list of the API has, page by page. */
export async function allPages<T>(world: World, agent: ChaosAgent, path: string): Promise<T[]> {
  const [door] = world.doors
  if (!door) throw new Error('there is no door')
  const client = world.client(agent, door)
  const items: T[] = []
  for (let after = ''; ; ) {
    const join = path.includes('?') ? '&' : '?'
    const { status, json, text } = await client.get(`${path}${join}limit=200${after}`)
    if (status !== 200) throw new Error(`${path}: ${text}`)
    items.push(...json.data)
    if (json.next === null) return items
    after = `&after=${json.next}`
  }
}
