/**
 * Opens a Sluice payment page over a shop's own page, as a popup or in a frame:
 *
 *   const { status } = await window.Sluice.open(link, { mode: 'popup' })
 *
 * Use the status only for display: the signed callback is what confirms a payment.
 */

type SluiceStatus =
  | 'waiting'
  | 'received'
  | 'paid'
  | 'expired'
  | 'failed'
  | 'void'
  | 'paid_late'
  | 'wrong_amount'
  | 'taken_back'
  | 'returned'

interface SluiceOptions {
  /** A separate window, or a frame in this page. The frame's origin must be one that the agent allows. */
  mode: 'popup' | 'iframe'
  /** Where to put the frame; without it, the frame opens as a dialog over the page. */
  container?: Element
  /** `en`, `th`, `vi`, `zh` or `pt`; the browser's language by default. */
  lang?: string
  /** The dialog's name for screen readers. */
  title?: string
  /** Called with every state that the page reports, including the first. */
  onStatus?: (status: SluiceStatus) => void
}

interface SluiceResult {
  /** The last state that the page reported; undefined if it reported none before it was closed. */
  status: SluiceStatus | undefined
  txn_id: string | undefined
}

/** What the page sends to the origin that shows it. */
interface SluiceMessage {
  source: 'sluice'
  v: 1
  type: 'ready' | 'resize' | 'status' | 'close'
  txn_id: string
  /** With `status` and `close`. */
  status?: SluiceStatus
  /** With `resize`: the page's height in CSS pixels. */
  height?: number
}

interface SluiceLoader {
  /**
   * Resolves when the payer is done: the window, dialog or frame was closed or, in a container, the order
   * ended. Rejects if the browser blocked the popup.
   */
  open(link: string, options: SluiceOptions): Promise<SluiceResult>
}

// biome-ignore lint/correctness/noUnusedVariables: it adds to the browser's own
interface Window {
  Sluice: SluiceLoader
}

;(() => {
  const ends = ['paid', 'failed', 'void', 'taken_back', 'returned', 'expired']

  function open(link: string, options: SluiceOptions): Promise<SluiceResult> {
    const url = new URL(link, location.href)
    // A link such as javascript: would run in the shop's own page.
    if (url.protocol !== 'https:' && url.protocol !== 'http:') {
      return Promise.reject(new TypeError('a payment link begins with https: or http:'))
    }
    url.searchParams.set('origin', location.origin)
    if (options.lang !== undefined) url.searchParams.set('lang', options.lang)
    return new Promise((resolve, reject) => {
      const shown = options.mode === 'popup' ? popup(url) : frame(url, options)
      if (!shown) {
        reject(new Error('the browser did not let the payment window open'))
        return
      }
      const result: SluiceResult = { status: undefined, txn_id: undefined }
      let isDone = false
      const done = () => {
        if (isDone) return
        isDone = true
        window.removeEventListener('message', hear)
        shown.close()
        resolve(result)
      }
      const hear = (event: MessageEvent) => {
        // Accepts messages only from the page itself, from the origin of its link.
        if (event.origin !== url.origin || event.source !== shown.window()) return
        const message: SluiceMessage | undefined = event.data
        if (message?.source !== 'sluice' || message.v !== 1) return
        result.txn_id = message.txn_id
        if (message.status !== undefined && message.status !== result.status) {
          result.status = message.status
          options.onStatus?.(message.status)
        }
        if (message.type === 'resize' && message.height !== undefined) shown.resize(message.height)
        if (message.type === 'close') done()
        if (options.container && options.mode === 'iframe' && ends.includes(result.status ?? '')) {
          isDone = true
          resolve(result)
        }
      }
      window.addEventListener('message', hear)
      shown.onClosed(done)
    })
  }

  interface Shown {
    window(): MessageEventSource | null
    resize(height: number): void
    onClosed(closed: () => void): void
    close(): void
  }

  function popup(url: URL): Shown | undefined {
    const [width, height] = [480, 800]
    const left = Math.max(0, window.screenX + (window.outerWidth - width) / 2)
    const top = Math.max(0, window.screenY + (window.outerHeight - height) / 2)
    const features = `popup,width=${width},height=${height},left=${left},top=${top}`
    const opened = window.open(url, '_blank', features)
    if (!opened) return undefined
    opened.focus()
    let watch: number | undefined
    return {
      window: () => opened,
      resize: () => {},
      onClosed(closed) {
        // A window of another origin fires no event when it is closed.
        watch = window.setInterval(() => opened.closed && closed(), 300)
      },
      close() {
        window.clearInterval(watch)
        opened.close()
      },
    }
  }

  function frame(url: URL, { container, title }: SluiceOptions): Shown {
    const element = document.createElement('iframe')
    element.src = url.href
    element.title = title ?? 'Payment'
    // Allows everything that the page needs, but not navigating the shop's page.
    element.setAttribute(
      'sandbox',
      'allow-scripts allow-same-origin allow-forms allow-downloads allow-modals allow-popups allow-popups-to-escape-sandbox',
    )
    element.allow = 'clipboard-write'
    Object.assign(element.style, { border: '0', width: '100%', height: '640px', display: 'block' })
    if (container) {
      container.append(element)
      return {
        window: () => element.contentWindow,
        resize: (height) => {
          element.style.height = `${height}px`
        },
        onClosed: () => {},
        close: () => element.remove(),
      }
    }
    const dialog = document.createElement('dialog')
    dialog.setAttribute('aria-label', element.title)
    Object.assign(dialog.style, {
      border: '0',
      padding: '0',
      borderRadius: '12px',
      overflow: 'hidden',
      width: 'min(30rem, 100vw)',
      maxWidth: '100vw',
      maxHeight: '100dvh',
    })
    dialog.append(element)
    document.body.append(dialog)
    // Keeps the focus inside, closes on Escape, and hides the rest from screen readers.
    dialog.showModal()
    element.focus()
    return {
      window: () => element.contentWindow,
      resize: (height) => {
        element.style.height = `min(${height}px, 92dvh)`
      },
      onClosed: (closed) => dialog.addEventListener('close', closed),
      close() {
        // Returns the focus to the element that had it.
        dialog.close()
        dialog.remove()
      },
    }
  }

  window.Sluice = { open }
})()
