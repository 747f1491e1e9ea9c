/**
 * The reference page's only script: buttons that copy, and a search. The page is whole without it. The page's policy
 * contains its hash, so no other can run.
 */
export const referenceScript = `
for (const pre of document.querySelectorAll('pre')) {
  const box = document.createElement('div')
  const button = document.createElement('button')
  box.className = 'snippet'
  button.type = 'button'
  button.textContent = 'Copy'
  button.addEventListener('click', async () => {
    // Without TLS there is no clipboard to write to, but what is selected can be copied.
    const hasCopied = await navigator.clipboard?.writeText(pre.textContent).then(() => true, () => false)
    if (!hasCopied) {
      getSelection().selectAllChildren(pre)
      if (!document.execCommand('copy')) return void (button.textContent = 'Selected: copy it')
    }
    button.textContent = 'Copied'
    setTimeout(() => { button.textContent = 'Copy' }, 2000)
  })
  pre.replaceWith(box)
  box.append(button, pre)
}

const nav = document.querySelector('nav')
const label = document.createElement('label')
const found = document.createElement('p')
const input = document.createElement('input')
label.append('Search', input)
input.type = 'search'
found.setAttribute('role', 'status')
nav.prepend(label, found)
const entries = [...nav.querySelectorAll('li')].map((entry) => {
  const target = document.getElementById(entry.querySelector('a').hash.slice(1))
  return { entry, text: (entry.textContent + ' ' + (target ? target.textContent : '')).toLowerCase() }
})
input.addEventListener('input', () => {
  const words = input.value.toLowerCase().split(/\\s+/).filter(Boolean)
  let many = 0
  for (const { entry, text } of entries) {
    const fits = words.every((word) => text.includes(word))
    entry.hidden = !fits
    if (fits) many += 1
  }
  for (const list of nav.querySelectorAll('ul')) {
    const isEmpty = [...list.children].every((entry) => entry.hidden)
    const title = list.previousElementSibling
    if (title && title.tagName === 'P' && title !== found) title.hidden = isEmpty
  }
  found.textContent = words.length === 0 ? '' : many === 0 ? 'Nothing has these words.' : many + ' found'
})
`
