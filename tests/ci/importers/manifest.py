"""A small manifest of dbt, as its version 12 spells it."""

from __future__ import annotations

from typing import Any


def column(name: str, **more: Any) -> dict[str, Any]:
    """One column of a model."""
    return {"name": name, "description": "", "meta": {}, "data_type": None, "constraints": [], "tags": [], **more}


def model(name: str, *columns: dict[str, Any], **more: Any) -> dict[str, Any]:
    """One model in the schema `shop`."""
    node = {"resource_type": "model", "name": name, "alias": name, "schema": "shop", "description": f"one {name}"}
    node |= {"columns": {one["name"]: one for one in columns}, "config": {"materialized": "table", "meta": {}}}
    return {**node, "tags": [], "meta": {}, "group": None, "depends_on": {"nodes": []}, **more}


def tested(name: str, on: str, column: str | None = None, config: Any = None, **kwargs: Any) -> dict[str, Any]:
    """One generic test on a node."""
    held = {"column_name": column, "model": "{{ get_where_subquery(ref('x')) }}", **kwargs}
    node: dict[str, Any] = {"resource_type": "test", "column_name": column, "attached_node": on}
    node |= {"config": config or {}, "test_metadata": {"name": name, "kwargs": held}, "depends_on": {"nodes": [on]}}
    return node


def manifest(version: int = 12) -> dict[str, Any]:
    """Orders of customers, an audit log that is only a view of nothing, a source, an exposure, a semantic layer."""
    orders, customers, visits = "model.shop.orders", "model.shop.customers", "model.shop.visits"
    nodes = {
        orders: model(
            "orders",
            column("order_id"),
            column("customer_id"),
            column("status", meta={"synonyms": ["state"]}, tags=["core"]),
            column("amount", data_type="NUMERIC(9,2)"),
            column("ordered_at", data_type="timestamp"),
            tags=["daily"],
            meta={"owner": "Sales", "domain": "sales", "sla": "gold"},
            depends_on={"nodes": ["model.shop.stg_orders", "source.shop.raw.orders"]},
        ),
        customers: model("customers", column("customer_id"), column("email", meta={"contains_pii": True}), group="crm"),
        visits: model("visits", column("visitor"), column("Page Name")),
        "model.shop.stg_orders": model("stg_orders", config={"materialized": "ephemeral"}),
        "test.1": tested("unique", orders, "order_id"),
        "test.2": tested("not_null", orders, "order_id"),
        "test.3": tested("accepted_values", orders, "status", values=["placed", "returned", True, 7]),
        "test.4": tested("unique", customers, "customer_id"),
        "test.5": tested("not_null", customers, "customer_id"),
        "test.6": tested("relationships", orders, "customer_id", to="ref('customers')", field="customer_id"),
        "test.7": tested("relationships", orders, "order_id", to="ref('visits')", field="visitor"),
        "test.8": tested("unique", visits, "visitor", config={"where": "page = 1"}),
        "test.9": tested("not_null", orders, "status"),
        "test.10": tested("expression_is_true", orders, None),
    }
    source = {
        "resource_type": "source",
        "source_name": "raw",
        "name": "orders",
        "identifier": "ORDERS_V1",
        "schema": "raw",
    }
    source |= {"columns": {}, "loaded_at_field": "loaded_at", "tags": [], "meta": {}, "description": "as loaded"}
    source["freshness"] = {"warn_after": {"count": 12, "period": "hour"}, "error_after": {"count": 1, "period": "day"}}
    other = {**source, "name": "silent", "freshness": None, "loaded_at_field": None}
    exposure = {
        "name": "Weekly board",
        "type": "dashboard",
        "url": "https://bi.example/1",
        "description": "for Mondays",
    }
    exposure |= {"owner": {"name": "Ana"}, "depends_on": {"nodes": [orders, "model.shop.gone"]}}
    semantic = {"name": "order_facts", "node_relation": {"alias": "orders", "schema_name": "shop"}}
    semantic |= {
        "defaults": {"agg_time_dimension": "ordered_at"},
        "entities": [{"name": "order", "type": "primary", "expr": "order_id"}],
    }
    semantic |= {"dimensions": [{"name": "ordered_at", "type": "time", "type_params": {"time_granularity": "day"}}]}
    semantic["dimensions"].append({"name": "status", "type": "categorical"})
    semantic["measures"] = [{"name": "amount", "agg": "sum", "expr": None}]
    params = {"measure": {"name": "amount", "filter": None, "join_to_timespine": False, "fill_nulls_with": None}}
    where = {"where_filters": [{"where_sql_template": "{{ Dimension('order__status') }} = 'placed'"}]}
    metric = {"name": "revenue", "type": "simple", "type_params": params, "filter": where, "label": "Revenue"}
    metadata = {
        "dbt_schema_version": f"https://schemas.getdbt.com/dbt/manifest/v{version}.json",
        "adapter_type": "postgres",
    }
    return {
        "metadata": metadata,
        "nodes": nodes,
        "sources": {"source.shop.raw.orders": source, "source.shop.raw.silent": other},
        "exposures": {"exposure.shop.board": exposure},
        "groups": {"group.shop.crm": {"name": "crm", "owner": {"email": "crm@shop.example"}}},
        "semantic_models": {"semantic_model.shop.order_facts": semantic},
        "metrics": {"metric.shop.revenue": metric},
        "saved_queries": {"saved_query.shop.q": {}},
    }
