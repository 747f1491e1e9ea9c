/** Makes the payment page live. Everything also works without this script, by reloading. */

export {}

interface StateNow {
  state: string
  remaining: number
  /** What became of each payment beside the one that the state is about. */
  /** A process of the release before does not tell them. */
  others?: string[]
}

const { body, documentElement } = document
const { base = '', parentOrigin = '', txnId = '', copied = '', leftToPay = '' } = body.dataset
const pollEveryMs = 5_000
const streamAgainAfterMs = 30_000
const announceAt = [60, 15]
// The order has ended, and money can still come in: somebody pays twice, or pays what has failed.
const afterwardsEveryMs = 30_000
const afterwardsForMs = 600_000

const main = () => document.querySelector('main') ?? body
const shown = () => main().dataset.state ?? ''
const others = () => main().dataset.others ?? ''
const say = (text: string) => {
  const live = document.getElementById('live')
  if (live) live.textContent = text
}

documentElement.classList.add('js')

// The window that shows the page. Messages go only to the origin that the server has checked.
const host = window.parent !== window ? window.parent : window.opener
const tell = (type: string, more: Record<string, unknown> = {}) => {
  if (host && parentOrigin !== '') {
    host.postMessage({ source: 'sluice', v: 1, type, txn_id: txnId, ...more }, parentOrigin)
  }
}

function startTelling(): void {
  tell('ready')
  tell('status', { status: shown() })
  const close = document.getElementById('close')
  if (!close || !host || (window.parent !== window && parentOrigin === '')) return
  // The shop is behind this window.
  documentElement.classList.add('shown-by-shop')
  close.hidden = false
  close.addEventListener('click', () => {
    tell('close', { status: shown() })
    if (window.parent === window) window.close()
  })
}

new ResizeObserver(() => tell('resize', { height: documentElement.scrollHeight })).observe(body)

document.addEventListener('keydown', ({ key }) => {
  if (key === 'Escape' && window.parent !== window) tell('close', { status: shown() })
})

/** Times of the server, in the payer's own zone. */
function showLocalTimes(): void {
  const format = new Intl.DateTimeFormat(documentElement.lang, {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
    timeZoneName: 'short',
  })
  for (const time of document.querySelectorAll('time')) {
    time.textContent = format.format(new Date(time.dateTime))
  }
}

// The countdown runs on a steady clock, from the remaining seconds that the server reported.
let endsAtMs = 0
let announced = announceAt.filter((each) => Number(main().dataset.remaining) <= each).length

function countFrom(remaining: number): void {
  endsAtMs = performance.now() + remaining * 1000
  showLeft()
}

function showLeft(): void {
  const clock = document.getElementById('left')
  if (!clock) return
  const seconds = Math.max(0, Math.ceil((endsAtMs - performance.now()) / 1000))
  clock.textContent = clockText(seconds)
  clock.parentElement?.classList.toggle('soon', seconds <= (announceAt[0] ?? 0))
  const due = announceAt.filter((each) => seconds <= each).length
  if (due > announced && seconds > 0) {
    announced = due
    say(leftToPay.replace('{time}', inWords(seconds)))
  }
  if (seconds === 0) void refresh()
}

function inWords(seconds: number): string {
  const format = (value: number, unit: string) =>
    new Intl.NumberFormat(documentElement.lang, {
      style: 'unit',
      unit,
      unitDisplay: 'long',
    }).format(value)
  return seconds < 60 ? format(seconds, 'second') : format(Math.round(seconds / 60), 'minute')
}

function clockText(seconds: number): string {
  const days = Math.floor(seconds / 86_400)
  const hours = Math.floor((seconds % 86_400) / 3600)
  const two = (number: number) => String(number).padStart(2, '0')
  const rest = `${two(Math.floor((seconds % 3600) / 60))}:${two(seconds % 60)}`
  const clock = days + hours > 0 ? `${hours}:${rest}` : rest
  if (days === 0) return clock
  const unit = { style: 'unit', unit: 'day', unitDisplay: 'long' } as const
  return `${new Intl.NumberFormat(documentElement.lang, unit).format(days)} ${clock}`
}

/** Takes the server's state: sets the countdown, and if anything is new fetches and shows the page. */
async function take(now: StateNow): Promise<void> {
  const { state, remaining } = now
  if (state !== shown() || (now.others ?? []).join(' ') !== others()) await showAnew()
  if (shown() === 'waiting') countFrom(remaining)
}

let fetching: Promise<void> | undefined

function showAnew(): Promise<void> {
  fetching ??= fetchPage().finally(() => {
    fetching = undefined
  })
  return fetching
}

async function fetchPage(): Promise<void> {
  const answer = await fetch(location.href, { headers: { accept: 'text/html' } })
  if (!answer.ok) return
  // There is no code to show any more; the page itself says why.
  if (answer.redirected) return location.replace(answer.url)
  const next = new DOMParser().parseFromString(await answer.text(), 'text/html')
  const fresh = next.querySelector('main')
  if (!fresh) return
  const before = shown()
  if (fresh.dataset.state === before && fresh.dataset.others === others()) return
  const hadFocus = main().contains(document.activeElement)
  main().replaceWith(fresh)
  document.title = next.title
  const title = document.getElementById('state')
  if (hadFocus) title?.focus()
  showLocalTimes()
  const isNewState = shown() !== before
  const news = isNewState ? title : document.querySelector('[data-other]')
  say(news?.textContent ?? title?.textContent ?? '')
  if (isNewState) tell('status', { status: shown() })
  if (isOver()) lookAfterwards()
  else listen()
}

const isOver = () => main().dataset.final !== undefined

// Live updates come over an event stream, with polling as the fallback.
let stream: EventSource | undefined
let polling: number | undefined
let streamAgain: number | undefined

function listen(): void {
  if (isOver() || stream) return
  stream = new EventSource(`${base}/events`)
  stream.addEventListener('state', (event) => {
    isReached(true)
    stopPolling()
    void take(JSON.parse(event.data))
  })
  stream.addEventListener('error', () => {
    startPolling()
    // The browser reconnects on its own, unless the server has refused the stream.
    if (stream?.readyState !== EventSource.CLOSED) return
    stream = undefined
    window.clearTimeout(streamAgain)
    streamAgain = window.setTimeout(listen, streamAgainAfterMs)
  })
}

let afterwards: number | undefined

/** Instead of listening, asks now and then for a while. */
function lookAfterwards(): void {
  stream?.close()
  stream = undefined
  window.clearTimeout(streamAgain)
  stopPolling()
  const untilMs = performance.now() + afterwardsForMs
  window.clearInterval(afterwards)
  afterwards = window.setInterval(() => {
    if (!isOver() || performance.now() > untilMs) window.clearInterval(afterwards)
    else void refresh()
  }, afterwardsEveryMs)
}

function startPolling(): void {
  polling ??= window.setInterval(refresh, pollEveryMs)
}

function stopPolling(): void {
  window.clearInterval(polling)
  polling = undefined
}

let refreshing = false

async function refresh(): Promise<void> {
  if (refreshing) return
  refreshing = true
  try {
    const answer = await fetch(`${base}/state`)
    isReached(true)
    if (answer.ok) await take(await answer.json())
  } catch {
    isReached(false)
  } finally {
    refreshing = false
  }
}

function isReached(reached: boolean): void {
  const note = document.getElementById('offline')
  if (note) note.hidden = reached
}

document.addEventListener('visibilitychange', () => {
  if (document.visibilityState !== 'visible') return
  void refresh()
  listen()
})
window.addEventListener('pageshow', ({ persisted }) => {
  if (persisted) void refresh()
})
window.addEventListener('online', refresh)

document.addEventListener('click', ({ target }) => {
  const button = target instanceof Element ? target.closest('button') : null
  if (button?.dataset.copy !== undefined) void copy(button, button.dataset.copy)
  if (button?.dataset.print !== undefined) window.print()
})

async function copy(button: HTMLButtonElement, value: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(value)
  } catch {
    // The clipboard API is not allowed in this frame, or the page came without TLS; selecting needs neither.
    if (!copyBySelection(value)) return
    button.focus()
  }
  const label = button.querySelector('span')
  if (!label) return
  const before = label.dataset.label ?? label.textContent ?? ''
  label.dataset.label = before
  label.textContent = copied
  say(copied)
  window.setTimeout(() => {
    label.textContent = before
  }, 2_000)
}

function copyBySelection(value: string): boolean {
  const field = document.createElement('textarea')
  field.value = value
  field.className = 'seen'
  field.readOnly = true
  body.append(field)
  field.select()
  const done = document.execCommand('copy')
  field.remove()
  return done
}

startTelling()
showLocalTimes()
if (main().dataset.state !== undefined) {
  countFrom(Number(main().dataset.remaining))
  window.setInterval(showLeft, 1_000)
  if (isOver()) lookAfterwards()
  else listen()
}
