import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { ask } from '../../api.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { api } from '../../paths.ts'
import { documentQuery } from '../connector/document-query.ts'
import { connectorFormWords as says } from './connector-form-words.ts'
import { DocumentForm } from './document-form.tsx'

/** Adds a version to a connector that is there. */
export default function NewConnectorVersion() {
  const { name = '' }: { name?: string } = useParams({ strict: false })
  const connector = useQuery({
    queryKey: ['connector', name],
    queryFn: ({ signal }) => ask(api.connector, { params: { name }, signal }),
  })
  const newest = connector.data?.newest_version ?? 0
  const document = useQuery({ ...documentQuery(name, newest), enabled: newest > 0 })
  return (
    <>
      <PageHead title={says.versionTitle(name)} says={says.versionSays} />
      {connector.isError && <ProblemPanel error={connector.error} />}
      {connector.data && (
        <DocumentForm
          name={name}
          tools={(setDocument) => (
            <div>
              <ActButton
                whyNot={document.data ? undefined : says.notLooked}
                onClick={() => setDocument(laidOut(document.data?.document ?? ''))}
              >
                {says.newest}
              </ActButton>
            </div>
          )}
        />
      )}
    </>
  )
}

/** On one line nobody can change it. */
function laidOut(document: string): string {
  return document.includes('\n') ? document : JSON.stringify(JSON.parse(document), null, 2)
}
