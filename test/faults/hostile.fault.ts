import { describe } from 'vitest'
import { startEmbedded } from '../fuzz/embedded-target.ts'
import { describeHostile } from '../support/hostile-scenarios.ts'

describe('attacks beside honest clients, embedded', () => describeHostile(startEmbedded))
