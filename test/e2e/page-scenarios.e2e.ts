import { describePageScenarios } from '../support/page-scenarios.ts'
import { startEmbeddedStand } from '../support/page-stand.ts'
import { lookScenarios } from '../support/scenarios/readers.ts'

describePageScenarios('the page in the embedded mode', startEmbeddedStand, { looks: lookScenarios })
