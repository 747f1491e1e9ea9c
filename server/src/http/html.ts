/** Markup that is safe to put into a page: created by `html`, with its values escaped. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Part = string | number | Html | readonly Part[]

export function html(literals: TemplateStringsArray, ...parts: Part[]): Html {
  return new Html(String.raw({ raw: literals }, ...parts.map(markup)))
}

function markup(part: Part): string {
  if (part instanceof Html) return part.text
  if (typeof part === 'object') return part.map(markup).join('')
  return String(part).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

export const nothing = html``
