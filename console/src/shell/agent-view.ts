import { notifications } from '@mantine/notifications'
import { ask, problemOf } from '../api.ts'
import { api, pages } from '../paths.ts'
import { base } from '../root.ts'

/** All tabs of a browser share a session: what they show is not theirs any more once its view changes. */
const tabs = new BroadcastChannel('sluice.view')
tabs.addEventListener('message', () => location.assign(`${base}/`))

/** Loads everything anew: nothing that was shown to another user stays. */
function goTo(page: string): void {
  tabs.postMessage('changed')
  location.assign(base + page)
}

export async function viewAsAgent(appId: string): Promise<void> {
  try {
    await ask(api.viewAsAgent, { params: { app_id: appId } })
    goTo(pages.home)
  } catch (error) {
    const { title, detail } = problemOf(error)
    notifications.show({ color: 'red', title, message: detail })
  }
}

let leaving: Promise<void> | undefined

/** Also when the time is over; several requests may find that out at once. */
export function leaveView(): Promise<void> {
  leaving ??= ask(api.leaveView).then(
    ({ app_id }) => goTo(pages.agent(app_id)),
    () => goTo(pages.home),
  )
  return leaving
}
