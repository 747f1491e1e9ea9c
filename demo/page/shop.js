/** The shop's page. It shows what the shop's server tells, and never decides what is paid. */

const byId = (id) => document.getElementById(id)
const baht = new Intl.NumberFormat('en', {
  style: 'currency',
  currency: 'THB',
  currencyDisplay: 'narrowSymbol',
})

async function openPayment(way) {
  const { link } = await post('/deposits', { item: chosenItem() })
  if (way === 'link') return showLink(link) // for a mail, a chat, a QR code
  const { status } = await window.Sluice.open(link, { mode: way })
  // What the browser hears is for the screen. Goods are handed out when the callback has come.
  say('deposit-said', `The payment page was closed; it said: ${status ?? 'nothing'}.`)
}

function chosenItem() {
  return document.querySelector('input[name="item"]:checked').value
}

function showLink(link) {
  const anchor = element('a', { href: link, target: '_blank', rel: 'noopener' }, link)
  byId('deposit-said').replaceChildren('Send this to the payer, or open it: ', anchor)
}

for (const button of document.querySelectorAll('[data-way]')) {
  button.addEventListener('click', () => {
    say('deposit-said', '')
    openPayment(button.dataset.way).catch((error) => say('deposit-said', error.message))
  })
}

byId('withdraw').addEventListener('submit', (event) => {
  event.preventDefault()
  say('withdraw-said', '')
  post('/withdrawals', Object.fromEntries(new FormData(event.target)))
    .then(() => say('withdraw-said', 'Asked. Amount and fee are held until the bank has answered.'))
    .catch((error) => say('withdraw-said', error.message))
})

byId('forge').addEventListener('click', () => post('/forgeries', {}).catch(console.error))

new EventSource('/events').addEventListener('message', ({ data }) => show(JSON.parse(data)))

function show({ wallet, latestOrder, callbacks }) {
  byId('balance').textContent = baht.format(wallet.balance)
  byId('held').textContent = baht.format(wallet.held)
  if (latestOrder) showSteps(latestOrder, callbacks)
  byId('no-callbacks').hidden = callbacks.length > 0
  byId('callback-list').replaceChildren(...callbacks.map(callbackRow))
}

/** The newest order, step by step. */
function showSteps(order, callbacks) {
  const outcome = callbacks.find((each) => each.transactionId === order.txn_id)
  const what = order.kind === 'deposit' ? `a deposit for ${order.item}` : 'a withdrawal'
  byId('order-line').textContent =
    `The newest order: ${what}, ${baht.format(order.amount)}, ${outcome?.status ?? 'WAITING'}`
  const facts = { created: `Order ${order.txn_id}, fee ${baht.format(order.fee)}` }
  if (outcome) {
    facts.settled = `${outcome.status}, ${baht.format(outcome.amount)}`
    facts.told = `Signature verified; answered 200`
    facts.booked = `Balance ${baht.format(outcome.wallet.balance)} after it`
  }
  for (const kind of ['deposit', 'withdraw']) byId(`${kind}-steps`).hidden = kind !== order.kind
  for (const step of byId(`${order.kind}-steps`).children) {
    const fact = facts[step.dataset.step]
    step.querySelector('.fact').textContent = fact ?? ''
    step.classList.toggle('done', fact !== undefined)
  }
}

function callbackRow(callback) {
  const time = element(
    'time',
    { dateTime: callback.at },
    new Date(callback.at).toLocaleTimeString('en-GB'),
  )
  if (!callback.verified) {
    return element(
      'li',
      { className: 'refused' },
      element('p', {}, mark('Refused'), ' and answered 401 ', time),
      element('p', {}, callback.why),
    )
  }
  const again = element('button', { type: 'button', className: 'quiet' }, 'Ask for it again')
  again.addEventListener('click', () =>
    post('/repeats', { seq: callback.eventSeq }).catch(console.error),
  )
  const times = callback.times > 1 ? `Came ${callback.times} times, counted once. ` : ''
  return element(
    'li',
    { className: 'verified' },
    element(
      'p',
      {},
      mark('Verified'),
      ` ${callback.status} ${baht.format(callback.amount)} `,
      time,
    ),
    element(
      'p',
      {},
      `Fee ${baht.format(callback.fee)}, balance ${baht.format(callback.wallet.balance)}. `,
      times,
    ),
    element('p', { className: 'id' }, callback.transactionId),
    again,
  )
}

const mark = (text) => element('strong', { className: 'mark' }, text)

/** Text goes in as text: nothing that came from elsewhere is read as HTML. */
function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties)
  made.append(...children)
  return made
}

function say(id, text) {
  byId(id).textContent = text
}

async function post(path, body) {
  const response = await fetch(path, { method: 'POST', body: JSON.stringify(body) })
  const value = await response.json()
  if (!response.ok) throw new Error(value.message)
  return value
}
