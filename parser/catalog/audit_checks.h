// The parts of an audit, each over one section of the catalog.
#pragma once

#include "parser/catalog/audit_ledger.h"
#include "parser/catalog/catalog.h"

namespace llmb::parser {

// What a document says of its GPU types against its tables.
void audit_document(const Catalog& catalog, const Document& document, AuditLedger& ledger);
// DP * TP * PP * CP = GPUs, GA * MBS * DP = GBS, layers that fit the pipeline.
void audit_recipe(const Catalog& catalog, const Recipe& recipe, AuditLedger& ledger);
// Tokens per second, MFU and days from the step time of the same column.
void audit_reference(const Catalog& catalog, const Reference& reference, AuditLedger& ledger);
// The MFU that another release prints for the same measurement, by what that one states.
void audit_restated_mfu(const Catalog& catalog, const Reference& reference,
                        const RestatedMfu& restated, AuditLedger& ledger);
// The text's calculations, the peaks it names and the windows it mentions; and what it takes or
// gets, against the tables of the document.
void audit_worked_example(const Catalog& catalog, const WorkedExample& example,
                          AuditLedger& ledger);

// The figures of a printed line against each other, its row and the tables of the document.
void audit_sample_output(const Catalog& catalog, const SampleOutput& sample, AuditLedger& ledger);
// Whether the document's own tables have what a command of it asks for.
void audit_command(const Catalog& catalog, const PublishedCommand& command, AuditLedger& ledger);

}  // namespace llmb::parser
