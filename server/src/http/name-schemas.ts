import { type Fields, fieldsOf, listOf, textOf } from './reference-schema.ts'

/** The information that both OpenAPI documents share. */
export const about = {
  contact: { name: 'The operator of this service' },
  license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
}

const prefix = '#/components/schemas/'

/**
 * Returns an OpenAPI document whose objects all have names under `components.schemas`, so that generated
 * clients have named types, and whose numbers have a format. `shapes` are the known names; equal shapes share
 * a name, and other shapes are named after what contains them.
 */
export function nameSchemas<Document extends Fields>(document: Document, shapes: object): Document {
  const names = new SchemaNames(shapes)
  const operations = (paths: unknown) =>
    mapped(paths, (_path, methods) =>
      mapped(methods, (_method, operation) => names.inOperation(fieldsOf(operation))),
    )
  const paths = operations(document.paths)
  const webhooks =
    document.webhooks === undefined ? {} : { webhooks: operations(document.webhooks) }
  const components = { ...fieldsOf(document.components), schemas: names.schemas }
  return { ...document, components, paths, ...webhooks }
}

/** The same document with every reference replaced by its schema. */
export function inlineSchemas<Document extends object>(document: Document): Document {
  const schemas = fieldsOf(fieldsOf(fieldsOf(document).components).schemas)
  const inlined = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(inlined)
    if (typeof part !== 'object' || part === null) return part
    const name = textOf(fieldsOf(part).$ref)
    if (name.startsWith(prefix)) return inlined(schemas[name.slice(prefix.length)])
    return mapped(part, (_name, each) => inlined(each))
  }
  return inlined(document) as Document
}

class SchemaNames {
  readonly schemas: Record<string, Fields> = {}
  /** Keyed by the shape's text. */
  private readonly names: Map<string, string>

  constructor(shapes: object) {
    const known = Object.entries(shapes).filter(([, shape]) => hasName(fieldsOf(shape)))
    this.names = new Map(known.reverse().map(([name, shape]) => [textOfShape(shape), name]))
  }

  inOperation(operation: Fields): Fields {
    const id = capital(textOf(operation.operationId))
    const body = fieldsOf(operation.requestBody)
    return {
      ...operation,
      ...(operation.parameters !== undefined && {
        parameters: listOf(operation.parameters).map((each) => this.inParameter(fieldsOf(each))),
      }),
      ...(operation.requestBody !== undefined && {
        requestBody: this.inContent(body, `${id}Request`),
      }),
      responses: mapped(operation.responses, (_status, answer) =>
        this.inContent(fieldsOf(answer), `${id}Answer`),
      ),
    }
  }

  private inParameter(parameter: Fields): Fields {
    const name = textOf(parameter.name)
    return { ...parameter, schema: this.placed(fieldsOf(parameter.schema), capital(name)) }
  }

  private inContent(holder: Fields, name: string): Fields {
    if (holder.content === undefined) return holder
    const content = mapped(holder.content, (_type, one) => ({
      ...fieldsOf(one),
      schema: this.placed(fieldsOf(fieldsOf(one).schema), name),
    }))
    return { ...holder, content }
  }

  /** The schema with its parts replaced by references, and itself too if it is an object. */
  private placed(schema: Fields, suggested: string): Fields {
    const text = textOfShape(schema)
    const known = this.names.get(text)
    if (known === undefined && !isObject(schema)) return this.written(schema, suggested)
    const name = known ?? this.free(suggested)
    this.names.set(text, name)
    this.schemas[name] ??= this.written(schema, name)
    return { $ref: prefix + name }
  }

  private free(suggested: string): string {
    const taken = new Set([...this.names.values(), ...Object.keys(this.schemas)])
    let name = suggested
    for (let number = 2; taken.has(name); number++) name = `${suggested}${number}`
    return name
  }

  private written(schema: Fields, name: string): Fields {
    // Our text formats are custom, and strict readers refuse unknown ones.
    const { anyOf, properties, items, patternProperties, format: _own, ...rest } = schema
    const isOpen = patternProperties !== undefined || typeof rest.additionalProperties === 'object'
    if (anyOf !== undefined) return this.variants(listOf(anyOf).map(fieldsOf), rest, name)
    return {
      ...rest,
      ...(rest.type === 'integer' && { format: 'int64' }),
      ...(rest.type === 'number' && { format: 'double' }),
      ...(items !== undefined && { items: this.placed(fieldsOf(items), `${name}Item`) }),
      ...(isOpen && { additionalProperties: true }),
      ...(properties !== undefined && {
        properties: mapped(properties, (field, each) =>
          this.placed(fieldsOf(each), name + capital(field)),
        ),
      }),
    }
  }

  /** Expresses nullability in `type` where possible, because many readers support no other way. */
  private variants(variants: Fields[], rest: Fields, name: string): Fields {
    const others = variants.filter(({ type }) => type !== 'null')
    const written = others.map((each, at) =>
      this.placed(each, others.length === 1 ? name : `${name}${at + 1}`),
    )
    if (others.length === variants.length) return { ...rest, anyOf: written }
    const [only] = written
    if (written.length > 1 || only?.$ref !== undefined) {
      return { ...rest, anyOf: [...written, { type: 'null' }] }
    }
    return {
      ...only,
      ...rest,
      type: [only?.type, 'null'],
      ...(only?.enum !== undefined && { enum: [...listOf(only.enum), null] }),
    }
  }
}

/** Gives the same text whether or not fastify has rewritten an open object's properties. */
function textOfShape(schema: unknown): string {
  return JSON.stringify(schema).replaceAll(
    '"patternProperties":{"^.*$":{}}',
    '"additionalProperties":{}',
  )
}

function mapped(
  of: unknown,
  change: (name: string, value: unknown) => unknown,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fieldsOf(of)).map(([name, value]) => [name, change(name, value)]),
  )
}

function isObject({ type, properties }: Fields): boolean {
  return type === 'object' && properties !== undefined
}

/** Whether the schema is an object, or a union of objects. */
function hasName(schema: Fields): boolean {
  const variants = listOf(schema.anyOf).map(fieldsOf)
  return isObject(schema) || (variants.length > 0 && variants.every(hasName))
}

/** `list_orders` and `listOrders` become `ListOrders`. */
function capital(name: string): string {
  return name.replace(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_all, first) => first.toUpperCase())
}
