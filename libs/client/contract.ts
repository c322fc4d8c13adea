/** The contract's types, as they are in the package: the build writes them out there, without the schemas. */
export type { CurrentOfMany } from '#libs/current/contract';
export type { Feed, RecordsPage } from '#libs/log/contract';
export type { FullRecord, Receipt, RecordBody } from '#libs/record/contract';
export type { DomainStats, StatsQuery } from '#libs/stats/contract';
