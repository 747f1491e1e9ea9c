import type { ConnectorDocument } from '../providers/http/connector-document.ts'

/**
 * A document that is kept. It was checked when it was added; a release that is stricter must still speak of what was
 * handed over with it, so it is not checked again.
 */
export function storedDocument(text: string): ConnectorDocument {
  return JSON.parse(text)
}
