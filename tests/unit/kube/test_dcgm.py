"""Pages of DCGM exporters: what they mean, and what is believed of a page that somebody made up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.kube.dcgm import parse_gpus
from ktui.model.usage import GpuUsage

GPU = 'gpu="0",UUID="GPU-a",device="nvidia0",modelName="NVIDIA H200"'
PAGE = f"""# HELP DCGM_FI_DEV_GPU_UTIL GPU utilization (in %).
# TYPE DCGM_FI_DEV_GPU_UTIL gauge
DCGM_FI_DEV_GPU_UTIL{{{GPU}}} 87
DCGM_FI_DEV_FB_USED{{{GPU}}} 100
DCGM_FI_DEV_FB_FREE{{{GPU}}} 900
DCGM_FI_DEV_FB_RESERVED{{{GPU}}} 24
DCGM_FI_DEV_GPU_TEMP{{{GPU}}} 61
DCGM_FI_DEV_POWER_USAGE{{{GPU}}} 512.4
DCGM_FI_DEV_XID_ERRORS{{{GPU}}} 79
DCGM_EXP_XID_ERRORS_COUNT{{{GPU},xid="79",window_size_in_ms="300000"}} 2
DCGM_EXP_XID_ERRORS_COUNT{{{GPU},xid="0",window_size_in_ms="300000"}} 0
DCGM_FI_DEV_GPU_UTIL{{gpu="1",UUID="GPU-b"}} 0
go_goroutines 12
"""
MIB = 1024 * 1024


def test_a_page() -> None:
    first, second = parse_gpus(PAGE)
    assert first == GpuUsage(
        uuid="GPU-a",
        utilization=87.0,
        memory_used=100 * MIB,
        memory_total=1024 * MIB,
        temperature=61.0,
        power=512.4,
        last_xid=79,
        recent_xids=((79, 2),),
    )
    assert second == GpuUsage(uuid="GPU-b", utilization=0.0)  # what is not told is None, not 0


def test_instances_of_mig_stand_beside_their_gpu() -> None:
    mig = 'UUID="GPU-a",GPU_I_PROFILE="1g.18gb",GPU_I_ID="7",dra_mig_device_uuid="MIG-x"'
    named = 'dra_driver_name="gpu.nvidia.com",dra_pool_name="n1",dra_device_name="gpu-0-mig-1g18gb-19-0"'
    page = f"DCGM_FI_PROF_GR_ENGINE_ACTIVE{{{mig},{named}}} 0.5\n"
    (instance,) = parse_gpus(page)
    assert (instance.instance, instance.profile, instance.mig_uuid) == ("7", "1g.18gb", "MIG-x")
    assert instance.device == ("gpu.nvidia.com", "n1", "gpu-0-mig-1g18gb-19-0")
    assert (instance.utilization, instance.engine_active, instance.busy) == (None, 50.0, 50.0)


def test_a_device_that_pods_share_is_one_device() -> None:
    page = "".join(f'DCGM_FI_DEV_GPU_UTIL{{UUID="GPU-a",pod="p{number}"}} 40\n' for number in range(3))
    assert parse_gpus(page) == (GpuUsage(uuid="GPU-a", utilization=40.0),)


@pytest.mark.parametrize(
    "value",
    ["NaN", "+Inf", "-Inf", "-1", "9223372036854775794", "2147483632", "1.4e14", "0x10", "", "8 8 8 8 x", "many"],
)
def test_what_dcgm_writes_for_no_value_is_none(value: str) -> None:
    temperatures = [gpu.temperature for gpu in parse_gpus(f'DCGM_FI_DEV_GPU_TEMP{{UUID="a"}} {value}\n')]
    assert temperatures in ([], [8.0])  # the last but one is 8, with rubbish behind it


def test_more_than_all_of_it_is_no_utilization() -> None:
    assert parse_gpus('DCGM_FI_DEV_GPU_UTIL{UUID="a"} 101\n') == (GpuUsage(uuid="a"),)


@pytest.mark.parametrize(
    "line",
    [
        'DCGM_FI_DEV_GPU_TEMP{UUID="a',
        "DCGM_FI_DEV_GPU_TEMP{",
        "DCGM_FI_DEV_GPU_TEMP",
        "DCGM_FI_DEV_GPU_TEMP 5",  # of no GPU
        'DCGM_FI_DEV_GPU_TEMP{UUID=""} 5',
        'DCGM_FI_DEV_GPU_TEMPERATURE{UUID="a"} 5',
        'DCGM_FI_DEV_GPU_TEMP{UUID="' + "a" * 5000 + '"} 5',
        'DCGM_FI_DEV_GPU_TEMP{UUID="' + '\\"' * 1000 + '"} 5',  # which takes long
        'DCGM_FI_DEV_GPU_TEMP{UUID="a"} ' + "1" * 400,
        'DCGM_FI_DEV_GPU_TEMP{UUID="a"} 1e400',
        'DCGM_FI_DEV_GPU_TEMP{UUID="a"} 5 ' + "1" * 4000,
        'DCGM_EXP_XID_ERRORS_COUNT{UUID="good",xid="' + "1" * 400 + '"} 5',
    ],
)
def test_a_line_that_is_no_series_costs_that_line(line: str) -> None:
    good = 'DCGM_FI_DEV_GPU_TEMP{UUID="good"} 50'
    assert parse_gpus(f"{line}\n{good}\n") == (GpuUsage(uuid="good", temperature=50.0),)


def test_a_page_without_end_is_read_so_far() -> None:
    page = "".join(f'DCGM_FI_DEV_GPU_TEMP{{UUID="GPU-{number}"}} 50\n' for number in range(6_000))
    assert len(parse_gpus(page)) == 4_096


@given(
    st.lists(
        st.from_regex(
            r"(DCGM_FI_DEV_(GPU_UTIL|FB_USED|XID_ERRORS)|DCGM_EXP_XID_ERRORS_COUNT)[{ ].{0,60}", fullmatch=True
        )
        | st.from_regex(
            r'DCGM_FI_DEV_(FB_USED|XID_ERRORS)\{UUID="a"\} [-+.e0-9]{1,400}( [0-9]{1,400})?', fullmatch=True
        )
        | st.text(max_size=80),
        max_size=12,
    )
)
def test_any_text_is_read_without_an_error(rows: list[str]) -> None:
    for gpu in parse_gpus("\n".join(rows)):
        assert gpu.uuid
        assert gpu.utilization is None or 0 <= gpu.utilization <= 100
