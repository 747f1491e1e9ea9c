import { PageHead } from '../../parts/page-head.tsx'
import { connectorFormWords as says } from './connector-form-words.ts'
import { DocumentForm } from './document-form.tsx'

/** Connects a payment company by its document. */
export default function NewConnector() {
  return (
    <>
      <PageHead title={says.title} says={says.says} />
      <DocumentForm />
    </>
  )
}
