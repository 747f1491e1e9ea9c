interface Request {
  name: string
  request: {
    method: string
    description?: string
    header: { key: string; value: string }[]
    url: { raw: string; host: string[]; path: string[]; query?: object[] }
    body?: { mode: 'raw'; raw: string; options: object }
  }
}

export interface PostmanCollection {
  info: { name: string; description: string; schema: string }
  variable: { key: string; value: string }[]
  event: { listen: string; script: { type: string; exec: string[] } }[]
  item: { name: string; item: Request[] }[]
}

/**
 * Signs whatever is sent. The variables are put in before it is signed, so that what is signed is what is
 * sent; time and reference are new for every request.
 */
const prerequest = `pm.variables.set('timestamp', new Date().toISOString())
pm.variables.set('new_ref', 'postman-' + Date.now())
const t = String(Math.floor(Date.now() / 1000))
const url = pm.variables.replaceIn(pm.request.url.toString())
const path = url.replace(/^[a-z]+:\\/\\/[^/]+/i, '')
const body = pm.request.body && pm.request.body.raw ? pm.variables.replaceIn(pm.request.body.raw) : ''
const signed = t + '.' + pm.request.method + ' ' + path + '.' + body
const v1 = require('crypto-js').HmacSHA256(signed, pm.variables.get('secret')).toString()
pm.request.headers.upsert({ key: 'x-appid', value: pm.variables.get('app_id') })
pm.request.headers.upsert({ key: 'x-signature', value: 't=' + t + ',v1=' + v1 })`

interface Described {
  summary?: string
  description?: string
  tags?: string[]
  'x-example-request'?: { path: string; body?: string }
}

export interface DescribedApi {
  paths: Record<string, Record<string, Described>>
}

/** A collection (v2.1) with every operation of the description, filled in with its example. */
export function postmanCollection(openapi: DescribedApi): PostmanCollection {
  const folders = new Map<string, Request[]>()
  for (const [path, methods] of Object.entries(openapi.paths)) {
    for (const [method, described] of Object.entries(methods)) {
      const [tag = 'Other'] = described.tags ?? []
      const request = requestOf(method.toUpperCase(), path, described)
      folders.set(tag, [...(folders.get(tag) ?? []), request])
    }
  }
  return {
    info: {
      name: 'Sluice',
      description:
        'Set base_url, app_id and secret as variables of the collection. Each request is signed before it is sent; txn_id and seq are those of your own orders.',
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    },
    variable: [
      { key: 'base_url', value: 'http://localhost:8080' },
      { key: 'app_id', value: '' },
      { key: 'secret', value: '' },
      { key: 'txn_id', value: '' },
      { key: 'seq', value: '1' },
    ],
    event: [
      { listen: 'prerequest', script: { type: 'text/javascript', exec: prerequest.split('\n') } },
    ],
    item: [...folders].map(([name, item]) => ({ name, item })),
  }
}

function requestOf(method: string, template: string, described: Described): Request {
  const example = described['x-example-request']
  const [, search] = (example?.path ?? '').split('?')
  const path = template.replaceAll(/\{(\w+)\}/g, '{{$1}}')
  const query = [...new URLSearchParams(search ?? '')].map(([key, value]) => ({ key, value }))
  const raw = example?.body && bodyOf(example.body)
  return {
    name: described.summary ?? `${method} ${template}`,
    request: {
      method,
      ...(described.description !== undefined && { description: described.description }),
      header: raw ? [{ key: 'content-type', value: 'application/json' }] : [],
      url: {
        raw: `{{base_url}}${path}${search === undefined ? '' : `?${search}`}`,
        host: ['{{base_url}}'],
        path: path.split('/').slice(1),
        ...(query.length > 0 && { query }),
      },
      ...(raw && { body: { mode: 'raw', raw, options: { raw: { language: 'json' } } } }),
    },
  }
}

/** The example's body, with what must be new each time as variables. */
function bodyOf(text: string): string {
  const fields = JSON.parse(text)
  if ('refId' in fields) Object.assign(fields, { refId: '{{new_ref}}', timestamp: '{{timestamp}}' })
  return JSON.stringify(fields, null, 2)
}
