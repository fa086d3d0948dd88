// The views that count logs are one part of the page: as two, what they share would be a third.

export { ChartView } from './chart-view.tsx'
export { GroupList } from './group-list.tsx'
