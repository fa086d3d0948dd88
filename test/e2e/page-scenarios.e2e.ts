import { describePageScenarios } from '../support/page-scenarios.ts'
import { startEmbeddedStand } from '../support/page-stand.ts'

describePageScenarios('the page in the embedded mode', startEmbeddedStand)
