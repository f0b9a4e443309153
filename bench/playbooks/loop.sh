#!/usr/bin/env bash
# The pipeline as a shell loop. Environment: STEPS, RELEASE, CHART, RECIPE, NAMESPACE, KUBECONFIG; helm and kubectl on PATH.
set -euo pipefail
for step in $(seq 1 "$STEPS"); do
    echo "step $step"
    helm install "$RELEASE" "$CHART" --namespace "$NAMESPACE" --values "$RECIPE" >/dev/null
    kubectl --namespace "$NAMESPACE" wait --for=condition=complete --timeout=300s "job/data-process-$RELEASE"
    kubectl --namespace "$NAMESPACE" logs "job/data-process-$RELEASE"
    helm uninstall "$RELEASE" --namespace "$NAMESPACE" --wait
done
