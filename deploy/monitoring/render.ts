import { stringify } from 'yaml'
import { ALERTS, type Alert, type AlertRule, OBJECTIVES, type Objective, WINDOWS } from './alerts.ts'

/** The base URL of the runbooks; an installation replaces it with its own. */
export const RUNBOOKS_URL = 'https://sluice.example/docs/runbooks/'

const GENERATED = '# Written by `npm run docs` from deploy/monitoring/alerts.ts.\n'

interface Rule {
  readonly record?: string
  readonly alert?: string
  readonly expr: string
  readonly for?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
}

/** The recording rules of the objectives, and all alerts, as Prometheus rule groups. */
export const ruleGroups = (): readonly { readonly name: string; readonly rules: readonly Rule[] }[] => [
  { name: 'sluice-objectives', rules: OBJECTIVES.flatMap(recordsOf) },
  { name: 'sluice-alerts', rules: ALERTS.flatMap((alert) => alert.rules.map((rule) => alertOf(alert, rule))) },
]

const recordsOf = ({ name, bad, valid }: Objective): readonly Rule[] =>
  WINDOWS.flatMap((window) => [
    {
      record: `sluice:slo_error:ratio_rate${window}`,
      expr: `${bad(window)} / ${valid(window)}`,
      labels: { slo: name },
    },
    { record: `sluice:slo_valid:rate${window}`, expr: valid(window), labels: { slo: name } },
  ])

const alertOf = ({ name }: Alert, rule: AlertRule): Rule => ({
  alert: name,
  expr: rule.expression,
  ...(rule.lasting === undefined ? {} : { for: rule.lasting }),
  labels: { severity: rule.severity, ...rule.labels },
  annotations: { summary: rule.summary, runbook_url: `${RUNBOOKS_URL}${name}.md` },
})

/** `rules.yaml`: the rules in Prometheus's format. */
export const rulesFile = (): string => GENERATED + stringify({ groups: ruleGroups() }, { lineWidth: 0 })

/** `rules-test.yaml`: the cases of all alerts for `promtool test rules`. */
export const rulesTestFile = (): string =>
  GENERATED +
  stringify(
    {
      rule_files: ['rules.yaml'],
      evaluation_interval: '1m',
      tests: ALERTS.flatMap(testsOf),
    },
    { lineWidth: 0, aliasDuplicateObjects: false },
  )

const testsOf = (alert: Alert): readonly object[] =>
  alert.cases.map(({ series, at, firing }) => ({
    interval: '1m',
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    alert_rule_test: [
      {
        eval_time: at,
        alertname: alert.name,
        exp_alerts: firing.map((labels) => expectedOf(alert, labels)),
      },
    ],
  }))

function expectedOf(alert: Alert, labels: Readonly<Record<string, string>>): object {
  const rule = alert.rules.find((each) =>
    Object.entries({ severity: each.severity, ...each.labels }).every(([label, value]) => labels[label] === value),
  )
  if (rule === undefined) throw new Error(`${alert.name} has no rule with the labels ${JSON.stringify(labels)}`)
  const summary = rule.summary.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, label: string) => labels[label] ?? '')
  // The recorded series of an objective add its name as a label.
  const slo = /\{slo="(\w+)"\}/.exec(rule.expression)?.[1]
  return {
    exp_labels: { ...labels, ...(slo === undefined ? {} : { slo }) },
    exp_annotations: { summary, runbook_url: `${RUNBOOKS_URL}${alert.name}.md` },
  }
}
