import type { Answer } from '../../api.ts'
import type { api } from '../../paths.ts'

/** A connector with its versions, its secrets without what they are, and its uses. */
export type ConnectorDetail = Answer<typeof api.connector>
export type ConnectorVersion = ConnectorDetail['versions'][number]
export type ConnectorSecret = ConnectorDetail['secrets'][number]
export type Tried = Answer<typeof api.tryConnector>['tried'][number]
export type SamplesRun = Answer<typeof api.runConnectorSamples>
export type SampleResult = SamplesRun['results'][number]
